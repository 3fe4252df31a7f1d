"""Is the site up? For machines: plain, fast, and without a session.

`/healthz` says that this process answers; `/readyz` says that the whole site can do its work: the database answers, its
migrations are applied, and a worker has been heard from lately.
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from bench_site.ingest.answers import answer_problem
from runners.contract.problems import problem

log = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 5

# Applied migrations stay applied while a process lives, and reading them costs more than all the rest.
_migrated = False


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when every part is "ok", else 503; each part says what is wrong with it."""
    try:
        parts = {"database": "ok", "migrations": _migrations(), "worker": _worker()}
    except Error as why:
        parts = {"database": f"does not answer: {str(why).splitlines()[0] if str(why) else type(why).__name__}"}
    ready = all(state == "ok" for state in parts.values())
    return JsonResponse({"ready": ready, **parts}, status=200 if ready else 503)


def _migrations() -> str:
    global _migrated
    if not _migrated:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if waiting:
            return f"{len(waiting)} not applied: run manage.py migrate"
        _migrated = True
    return "ok"


def _worker() -> str:
    from bench_site.runs.models import Heartbeat

    newest = Heartbeat.objects.order_by("-at").values_list("at", flat=True).first()
    if newest is None:
        return "never heard from: is the worker running?"
    age = timezone.now() - newest
    if age > timedelta(seconds=settings.HEARTBEAT_MAX_AGE_SECONDS):
        return f"silent for {age.total_seconds():.0f} s: is the worker running?"
    return "ok"


class DatabaseAwayMiddleware:
    """A database that is away or too busy is 503 with Retry-After, which clients may retry; a 500 they may not."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, why: Exception) -> HttpResponse | None:
        if not isinstance(why, (OperationalError, InterfaceError)):
            return None
        log.warning("503 for %s: %s", request.path, str(why).splitlines()[0] if str(why) else type(why).__name__)
        response: HttpResponse
        if request.path.startswith("/api/"):
            again = f"Nothing was stored. Send the same request again in {RETRY_AFTER_SECONDS} s."
            response = answer_problem(problem("busy", again))
        else:
            response = HttpResponse(
                "The database is not available at the moment. Please try again in a few seconds.\n",
                status=503,
                content_type="text/plain; charset=utf-8",
            )
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response
