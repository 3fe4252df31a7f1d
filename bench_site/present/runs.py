"""Reading one run for its page."""

from uuid import UUID

from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from bench_site.runs.models import ConfigurationPool, Revision, Run


def run_with_all(run_id: UUID) -> Run:
    """The run with what its page shows; a 404 where there is none."""
    revisions = Revision.objects.select_related("created_by").order_by("-number")
    runs = Run.objects.select_related("configuration__model", "uploaded_by", "raw_file", "retracted_by")
    return get_object_or_404(runs.prefetch_related(Prefetch("revisions", revisions)), pk=run_id)


def revision_of(run: Run, asked: str) -> Revision:
    """The revision that the URL asks for, else the newest; a 404 for one that does not exist."""
    number = run.revision
    if asked:
        number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 0
    found = next((one for one in run.revisions.all() if one.number == number), None)
    if found is None:
        raise Http404("the run has no such revision")
    return found


def vendors_of(run: Run) -> dict[str, str]:
    """Vendors by the name under which the run's report calls each chip.

    Pools are stored in another order than reported, so chips are matched by name and, where a report uses an alias,
    by being the only one.
    """
    pools = ConfigurationPool.objects.filter(configuration=run.configuration_id).select_related("chip")
    vendors = {pool.chip.name: pool.chip.vendor for pool in pools if pool.chip}
    reported = {pool.get("chip") for pool in (run.revisions.all()[0].report.get("system") or {}).get("pools") or []}
    if len(set(vendors.values())) == 1:
        vendor = next(iter(vendors.values()))
        return {name: vendor for name in reported if name}
    return vendors


def deleted(request: HttpRequest, run: Run) -> HttpResponse:
    """What is left of a deleted run: the answer that it was there."""
    return render(request, "410.html", {"run": run}, status=410)
