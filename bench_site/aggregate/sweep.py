"""The sweep: take the series that wait longest, compute, take the mark off. A mark is the record, a message a hint."""

import time

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from bench_site.aggregate.groups import claimable, set_newest, store
from bench_site.runs.models import Series

BATCH = 200
#: After this the sweep leaves the rest to the next one, well before the task's time limit ends it in the middle.
MAX_SECONDS = 300.0


def sweep(batch: int = BATCH, max_seconds: float = MAX_SECONDS) -> int:
    """Bring the statistics of all stale series up to date, longest waiting first; how many marks were taken off.

    Safe to run twice and several at once: each series is computed by one of them. A series that a run is written to
    meanwhile gets its statistics and keeps its mark, for the next sweep (a hint follows every write).
    """
    started, cleared = time.monotonic(), 0
    while time.monotonic() - started < max_seconds:
        taken, now_cleared = _sweep_batch(batch)
        cleared += now_cleared
        if not now_cleared:
            if taken == 0:
                cleared += _clear_without_groups()
            break
    return cleared


def _sweep_batch(batch: int) -> tuple[int, int]:
    """One batch in one transaction: how many series were taken, and how many marks came off."""
    with transaction.atomic():
        claims = (
            claimable()
            .filter(series__stale_since__isnull=False)
            .order_by("series__stale_since", "series_id")
            .select_for_update(skip_locked=True, no_key=True, of=("self",))
            .annotate(mark=F("series__stale_since"))
        )
        # The marks are read before the points are: whatever is written after this moves them.
        marks = {group.series_id: group.mark for group in claims[:batch]}
        if not marks:
            return 0, 0
        newest, _ = store(marks.keys())
        # Skipping a series that is being written to right now: waiting for it here could end in a deadlock.
        free = list(Series.objects.filter(id__in=marks).order_by("id").select_for_update(skip_locked=True, no_key=True))
        set_newest(free, newest)
        unchanged = [series.id for series in free if series.stale_since == marks[series.id]]
        Series.objects.filter(id__in=unchanged).update(stale_since=None)
    return len(marks), len(unchanged)


def _clear_without_groups() -> int:
    """Take the mark off series that have no group (any more): there is nothing to compute for them."""
    return Series.objects.filter(stale_since__isnull=False, groups=None).update(stale_since=None, newest_group=None)


def mark_all(chunk: int = 1_000) -> int:
    """Mark every series stale, so that a sweep computes all anew; how many were marked. It may be interrupted."""
    marked, last = 0, 0
    while True:
        with transaction.atomic():
            ids = list(Series.objects.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:chunk])
            if not ids:
                return marked
            # One that is locked is being written to, and so gets its mark there.
            free = Series.objects.filter(id__in=ids, stale_since=None).select_for_update(skip_locked=True, no_key=True)
            marked += Series.objects.filter(id__in=[one.id for one in free]).update(stale_since=timezone.now())
        last = ids[-1]
