"""The pages: each parses, calls one verb and renders."""

from uuid import UUID

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from bench_site.compare.books import load_books
from bench_site.compare.catalogue import load_catalogue
from bench_site.compare.comparison import compare
from bench_site.compare.defaults import default_selection
from bench_site.compare.overview import load_overview
from bench_site.compare.selection import BadSelection, Selection, parse
from bench_site.ingest.raw import raw_pieces
from bench_site.present import csv, hardware
from bench_site.present.numbers import size
from bench_site.present.page import compare_page, fitting_workload, site_address
from bench_site.present.run_list import run_list
from bench_site.present.run_page import run_page
from bench_site.present.runs import chips_of, deleted, revision_of, run_with_all
from bench_site.runs.models import Chip
from bench_site.runs.models.words import label
from runners.contract.vocabulary import Evidence

#: A raw file is somebody else's text: it may be kept, never run.
RAW_POLICY = "sandbox; default-src 'none'"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The front page is the comparison."""
    return compare_view(request)


@require_safe
def compare_view(request: HttpRequest) -> HttpResponse:
    """The comparison that the URL asks for; one without parameters goes on to the default choice."""
    if not request.GET and (query := default_selection().to_query()):
        return HttpResponseRedirect(f"{reverse('compare')}?{query}")
    selection, problems = _parsed(request)
    comparison = compare(selection)
    if not problems and (workload := fitting_workload(comparison)):
        return HttpResponseRedirect(f"{reverse('compare')}?{selection.to_query(workload=(workload,))}")
    site = site_address(request.scheme or "http", request.get_host())
    context = compare_page(comparison, load_overview(), problems, site)
    template = "compare/body.html" if request.htmx else "compare.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=400 if problems else 200)


def _parsed(request: HttpRequest) -> tuple[Selection, BadSelection | None]:
    """The selection; with wrong parameters what remains without them, and which they are."""
    try:
        return parse(request.GET), None
    except BadSelection as problems:
        return problems.selection, problems


@require_safe
def compare_csv(request: HttpRequest) -> HttpResponse:
    """The same rows and figures as the page with these parameters."""
    return csv.response(request)


@require_safe
def runs_view(request: HttpRequest) -> HttpResponse:
    """The searchable list of runs, newest first; with ``open``, a list of one run is that run's page."""
    found = run_list(request.GET.dict())
    if "open" in request.GET and len(found.lines) == 1:
        return HttpResponseRedirect(reverse("run", args=[found.lines[0].run.pk]))
    first = request.GET.copy()
    first.pop("after", None)
    return render(request, "runs/list.html", {"list": found, "first_query": first.urlencode()})


@require_safe
def run_view(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run: all that is stored. A deleted one answers 410."""
    run = run_with_all(run_id)
    if run.deleted_at:
        return deleted(request, run)
    revision = revision_of(run, request.GET.get("revision", ""))
    page = run_page(run, revision, chips_of(revision), load_books(Selection(), load_catalogue()))
    context = {
        "run": run, "revision": revision, "old": revision.number != run.revision, "page": page,
        "revisions": run.revisions.all(), "evidence": label(Evidence(run.evidence)), "flagged": any(page.marks),
        "raw_size": size(run.raw_file.size) if run.raw_file else "",
    }  # fmt: skip
    return render(request, "runs/detail.html", context)


@require_safe
def run_raw(request: HttpRequest, run_id: UUID) -> HttpResponse | StreamingHttpResponse:
    """The raw file as received, secrets removed: to be kept, never shown by the browser."""
    run = run_with_all(run_id)
    if run.deleted_at:
        return deleted(request, run)
    if run.raw_file is None:
        raise Http404("the run has no raw file")
    answer = FileResponse(raw_pieces(run.raw_file), as_attachment=True, filename=f"{run.raw_file.sha256[:16]}.txt",
                          content_type="application/octet-stream")  # fmt: skip
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Content-Security-Policy"] = RAW_POLICY
    return answer


@require_safe
def hardware_view(request: HttpRequest) -> HttpResponse:
    """The chip catalogue."""
    lines, unmapped = hardware.hardware_lines()
    return render(request, "hardware/list.html", {"lines": lines, "unmapped": unmapped})


@require_safe
def chip_view(request: HttpRequest, slug: str) -> HttpResponse:
    """One chip: every fact with its source, every price."""
    if "\0" in slug:  # PostgreSQL would refuse the question
        raise Http404("no chip has such a name")
    chip = get_object_or_404(Chip, slug=slug)
    context = {"line": hardware.chip_line(chip), "prices": hardware.history(chip), "ridge": hardware.ridge(chip)}
    return render(request, "hardware/chip.html", context)
