"""Reading one run for its page."""

from uuid import UUID

from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from bench_site.runs.models import Chip, ChipAlias, Revision, Run
from bench_site.runs.models.catalogue import slug_of


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


def chips_of(revision: Revision) -> dict[str, Chip]:
    """The catalogue's chips by the name under which the report calls each."""
    pools = (revision.report.get("system") or {}).get("pools") or []
    slugs = {pool["chip"]: slug_of(pool["chip"]) for pool in pools if pool.get("chip")}
    wanted = set(slugs.values())
    found = {chip.slug: chip for chip in Chip.objects.filter(slug__in=wanted)}
    # An alias wins over an entry's own slug, as it does when a run is accepted.
    found |= {a.slug: a.chip for a in ChipAlias.objects.filter(slug__in=wanted).select_related("chip")}
    return {name: found[slug] for name, slug in slugs.items() if slug in found}


def deleted(request: HttpRequest, run: Run) -> HttpResponse:
    """What is left of a deleted run: the answer that it was there."""
    return render(request, "410.html", {"run": run}, status=410)
