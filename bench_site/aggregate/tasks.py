"""The background tasks: fetch, call the verb, return. A message is a hint; all are safe to run twice."""

from celery import shared_task
from django.utils import timezone

from bench_site.aggregate import sweep as sweeping
from bench_site.runs.models import Heartbeat


@shared_task(name="aggregate.sweep")
def sweep() -> None:
    """Bring every stale series up to date."""
    sweeping.sweep()


@shared_task(name="aggregate.heartbeat")
def heartbeat() -> None:
    """Say that the worker lives, for /readyz."""
    beat = Heartbeat(name="worker", at=timezone.now())
    Heartbeat.objects.bulk_create([beat], update_conflicts=True, unique_fields=["name"], update_fields=["at"])
