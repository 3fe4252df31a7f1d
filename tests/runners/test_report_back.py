"""What a push prints: a row a file, each thing once, and nothing cut off at 80 columns."""

import io
from datetime import UTC, datetime
from uuid import UUID

import pytest
from rich.console import Console

from runners.client import Client
from runners.commands import report_back
from runners.commands.summary import shortened
from runners.contract.problems import FieldError, problem
from runners.contract.receipt import Finding, Missing, Receipt, UploadAnswer, UploadedRun
from runners.deliver import Outcome, passed_over
from runners.failures import NotSignedIn
from runners.retry import Patience
from tests.runners.fakesite import TOKEN, problem_of

SITE = "http://bench.example"
PRECISION = Missing(path="model.precision.weights", question="Which format?", option="--precision FORMAT")
CHIP = Missing(path="system.pools[0].chip", question="Which chip?", option="--chip CHIP", required=True)


def receipt(number=1, outcome="stored", **changes):
    run_id = UUID(int=number)
    return Receipt(
        **{
            "id": run_id, "outcome": outcome, "url": f"/runs/{run_id}/", "revision": 1, "points": 2,
            "plausibility": "accept", **changes,
        }
    )  # fmt: skip


def file(name="a.json", receipts=None, *, missing=(PRECISION,), notes=(), state="parsed", **changes):
    receipts = [receipt()] if receipts is None else receipts
    runs = [
        UploadedRun(record=at, receipt=one, missing=list(missing), notes=list(notes))
        for at, one in enumerate(receipts or [None])
    ]
    upload = UUID(int=1)
    answer = UploadAnswer(id=upload, state=state, url="/u", sha256="0", bytes=1, tool="some-tool", runs=runs)
    became = receipts[0].outcome if receipts else "refused"
    return Outcome(name, SITE, **{"state": became, "receipts": receipts, "answer": answer, **changes})


def needing(name):
    found = file(name, [], missing=(CHIP, PRECISION), state="checked")
    found.problem = found.answer.runs[0].problem = problem("missing-context", "Say it.")
    return found


def printed(*outcomes, width=100_000, **how):
    written = io.StringIO()
    out = Console(file=written, width=width, markup=False, highlight=False)
    report_back.show(list(outcomes), out, **how)
    return written.getvalue()


def test_a_file_of_many_runs_is_one_row():
    flagged = [Finding(rule="errors", verdict="flag", point=0, message="3 of 100 failed")]
    runs = [receipt(n) for n in range(300)] + [receipt(300, plausibility="flag", findings=flagged)]
    text = printed(file("agg.json", runs, missing=()))
    row, finding = text.splitlines()
    assert row.startswith("agg.json  602 points in 301 runs: 301 stored, 1 flagged  ")
    assert "flag at point 0: 3 of 100 failed [errors]" in finding and str(UUID(int=300)) in finding


def test_a_list_of_reports_is_one_row_with_its_refusals():
    outcomes = [Outcome(f"l.json[{n}]", SITE, "stored", [receipt(n)]) for n in range(3)]
    outcomes.append(Outcome("l.json[3]", SITE, "refused", problem=problem("invalid-report", "points is absent")))
    text = printed(*outcomes)
    assert "l.json  6 points in 4 runs: 1 REFUSED, 3 stored" in text
    assert "l.json[3]: The report does not follow the contract (422)" in text


def test_flagged_runs_are_listed_up_to_ten_and_quarantined_ones_first():
    flag = [Finding(rule="r", verdict="flag", message="odd")]
    worse = [Finding(rule="q", verdict="quarantine", message="impossible")]
    runs = [receipt(n, plausibility="flag", findings=flag) for n in range(14)]
    runs.append(receipt(15, plausibility="quarantine", findings=worse))
    _, *lines = printed(file("a.json", runs, missing=())).splitlines()
    assert len(lines) == 11 and "impossible" in lines[0] and lines[-1].startswith("... and 5 more")
    assert len(printed(file("a.json", runs, missing=()), explain=True).splitlines()) > 15


def test_what_is_not_said_is_one_line_and_the_options_come_with_explain():
    files = [file(f"{n}.json") for n in range(23)]
    text = printed(*files)
    assert text.count("precision") == 1
    assert "Not said by 23 files: precision (--explain lists the option for each)" in text
    assert "To add facts later: repeat the push with --amend and the options." in text
    assert printed(*files, explain=True).count("unknown: --precision FORMAT  Which format?") == 23


def test_the_same_note_is_said_once():
    text = printed(*[file(f"{n}.json", notes=["0 means not measured"]) for n in range(37)])
    assert text.count("0 means not measured") == 1
    assert "0.json, 1.json, 2.json and 34 more: 0 means not measured x 37" in text


def test_unchanged_prints_its_row_and_no_hints():
    text = printed(file("a.json", [receipt(outcome="unchanged")], notes=["a note"]))
    assert text.splitlines() == [f"a.json  unchanged, 2 points  {SITE}/runs/{UUID(int=1)}/"]


def test_a_dry_run_says_what_it_needs_not_that_it_is_refused():
    text = printed(needing("a.json"))
    assert text.splitlines()[0].rstrip() == "a.json  NEEDS: --chip CHIP"
    assert (
        "REFUSED" not in text
        and "needed:  --chip CHIP         Which chip?" in text
        and "unknown: --precision FORMAT  " in text
    )
    assert report_back.exit_code([needing("a.json")]) == 1
    many = printed(needing("a.json"), needing("b.json"))
    assert many.count("NEEDS: --chip CHIP") == 2 and "Which" not in many
    assert "Not said by 2 files: precision" in many


def test_a_push_that_lacks_a_fact_says_how_once():
    errors = [FieldError(path="p", code="missing", message="Which chip?", allowed="--chip CHIP")]
    lacks = problem("missing-context", "Long sentence. Say it with --chip CHIP.", errors)
    text = printed(*[Outcome(f"{n}.json", SITE, "refused", problem=lacks) for n in range(2)])
    assert text.count("--chip CHIP") == 1 and "Which chip?  say it with --chip CHIP" in text
    assert "0.json, 1.json: The file lacks facts that are needed (422)" in text
    assert lacks.remedy not in text


def test_a_conflict_is_one_sentence():
    errors = [FieldError(path="notes", code="differs", message="differs", found='"b"', allowed="stored: unknown")]
    found = problem("conflict", "Already stored. You now say: notes b (was unknown). Repeat it.", errors)
    found.remedy = "Repeat it."
    text = printed(Outcome("a.json", SITE, "refused", problem=found))
    assert text.count("notes") == 1 and text.count("Repeat it.") == 1 and "allowed" not in text


def test_the_list_of_tools_is_said_once_a_push():
    unknown = problem("unknown-format", "No tool. Supported: A; B. Nearest is A.", supported=["A", "B"])
    text = printed(*[passed_over(f"{n}.txt", SITE, unknown) for n in range(5)])
    assert text.count("Supported tools: A; B.") == 1 and text.count("No tool. Nearest is A.") == 1
    assert "in the detail" not in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_links_survive_a_narrow_terminal(width):
    name = "/data/benchmarks/2026-10/a-very-long-folder/" + "x" * 40 + "/result_kimi_k3_c128.json"
    text = printed(file(name, missing=()), width=width)
    assert f"{SITE}/runs/{UUID(int=1)}/" in text.split()
    first = text.splitlines()[0]
    assert first.startswith("/data/") and "_c128.json" in first and len(first) <= width


@pytest.mark.parametrize(("width", "cells"), [(10, 10), (40, 12)])
def test_names_are_shortened_in_the_middle(width, cells):
    from rich.cells import cell_len

    short = shortened("结果-abc.json", width)
    assert (cell_len(short) <= cells and short.endswith(".json")) or width == 40


def test_what_waited_is_marked():
    stored = Outcome("a.json", SITE, "stored", [receipt()], waited=datetime(2026, 1, 2, 7, 53, tzinfo=UTC))
    assert "(waited since 2026-01-0" in printed(stored)


def test_a_near_name_replaces_the_line_about_the_catalogue():
    note = "the chip a100 is not in the catalogue; did you mean `--chip a100sxm80gb` (A100 SXM 80GB)?"
    text = printed(file(receipts=[receipt(unknown_chips=["a100"], notes=[note])], missing=()))
    assert text.count("not in the catalogue") == 1 and note in text


# ------------------------------------------------------------ tokens


def refused_token(site, **how):
    with Client(site.url, patience=Patience(total=0), **how) as client, pytest.raises(NotSignedIn) as caught:
        client.whoami()
    return str(caught.value)


@pytest.mark.parametrize("source", ["FUSEBOARD_TOKEN", "the login file /home/a/config.json", "--token"])
def test_a_bad_token_is_named_by_where_it_came_from(site, source):
    text = refused_token(site, token="fb_wrong", token_from=source)
    assert f"the token of {source} " in text and f"{site.url}/account/" in text and "fuseboard login" in text
    assert ".;" not in text and "Authorization" not in text and "fb_wrong" not in text


def test_without_a_token_login_is_named(site):
    text = refused_token(site)
    assert f"run `fuseboard login {site.url}`" in text and "Authorization" not in text


def test_an_expired_token_is_said_to_be(site):
    site.faults = [problem_of("not-signed-in")]
    assert "was not taken" in refused_token(site, token=TOKEN)
