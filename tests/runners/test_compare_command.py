"""``fuseboard compare``: the site's table in a terminal, or its CSV byte for byte."""

import subprocess
import sys

import pytest
from rich.console import Console

from tests.runners.fakesite import TOKEN, problem_of, says
from tests.runners.tools import ROOT

CSV = (
    b"\xef\xbb\xbfmodel,chip,tokens/s per user,price tier,empty,notes\r\n"
    b"kimi-k3,h200,120.5,list,,'=1+1\r\n"
    b'kimi-k3,b200,240.25,list,,"a, ""b"""\r\n'
)


@pytest.fixture(autouse=True)
def table(site):
    site.compare = CSV


def test_csv_is_byte_for_byte(signed_in):
    command = [
        sys.executable,
        "-m",
        "runners.cli",
        "compare",
        "--param",
        "model=kimi-k3",
        "--param",
        "chip=h200",
        "--csv",
    ]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert process.stdout == CSV
    assert signed_in.requests[-1].query == {"model": ["kimi-k3"], "chip": ["h200"]}
    assert signed_in.requests[-1].headers["Authorization"] == f"Bearer {TOKEN}"


def test_the_table_says_once_what_all_rows_share(signed_in, run):
    result = run("compare")
    assert result.exit_code == 0
    first, *rest = result.stdout.splitlines()
    assert first == "model: kimi-k3; price tier: list"
    assert "empty" not in result.stdout
    assert "=1+1" in result.stdout
    assert "'=1+1" not in result.stdout
    assert [line.split()[:2] for line in rest[1:]] == [["h200", "120.5"], ["b200", "240.25"]]


def test_all_shows_every_column(signed_in, run):
    header = run("compare", "--all").stdout.splitlines()[0]
    assert header.split() == ["model", "chip", "tokens/s", "per", "user", "price", "tier", "empty", "notes"]


def test_a_narrow_terminal_says_what_it_leaves_out_and_never_leaves_out_the_evidence(signed_in, run, monkeypatch):
    signed_in.compare = (
        b"chip,tokens/s per user,notes,evidence\r\nh200,120.53217,a note that is long,measured\r\n"
        b"b200,240.25,another note that is long,claimed\r\n"
    )
    monkeypatch.setattr("runners.commands.compare._WIDEST", 40)
    result = run("compare")
    header, *rows = result.stdout.splitlines()
    assert header.split() == ["chip", "tokens/s", "per", "user", "evidence"]
    assert [row.split() for row in rows] == [["h200", "120.53", "measured"], ["b200", "240.25", "claimed"]]
    assert "1 more columns: --all shows them" in result.stderr


REAL = (
    b"rank,model,pools,engine,strategy,interactivity (tokens/s/user),"
    b"output_tokens_per_s_per_chip (tokens/s/chip),ttft_p50 (ms),"
    b"cost_per_m_output_tokens (USD/M output tokens),evidence,verification,cost_missing,source_runs\r\n"
    b"1,Kimi K3,all: h200 x8,vllm,graph_capture,120.53217,412.7,180,0.52,measured,not_run,,01930000-0000-7000-8000\r\n"
    b",Kimi K3,prefill: h200 x8; decode: b200 x16,,op_by_op,,99.5,,,claimed,not_run,no price for b200,01930000\r\n"
)


def test_at_80_columns_the_answer_stays_and_the_unknown_has_its_name(signed_in, run, monkeypatch):
    signed_in.compare = REAL
    narrow = {"width": 80, "markup": False, "highlight": False, "emoji": False}
    monkeypatch.setattr("runners.commands.compare.console", lambda: Console(**narrow))
    lines = run("compare").stdout.splitlines()
    assert lines[0] == "model: Kimi K3; verification: not_run"
    assert all(len(line) <= 80 for line in lines[1:])
    heads = " ".join(lines[1:3])
    assert all(word in heads for word in ("rank", "machine", "tok/s/user", "tok/s/chip", "cost", "evidence"))
    assert "source_runs" not in heads and "_per_" not in heads
    assert "h200 x8" in lines[3] and "all:" not in lines[3]
    rest = " ".join(" ".join(lines[4:]).split())
    assert "unknown" in lines[4] and "claimed" in lines[4] and "no price for" in rest and "decode: b200 x16" in rest


def test_figures_that_all_rows_share_are_still_in_the_table(signed_in, run):
    signed_in.compare = REAL.replace(b",99.5,,,claimed", b",412.7,,,measured")
    assert "evidence" in run("compare").stdout.splitlines()[2]
    assert run("compare").stdout.count("412.7") == 2


def test_without_choices_it_is_the_first_view_of_the_site(signed_in, run):
    signed_in.faults = [says(302, Location="/compare/?model=kimi-k3&isl=1024")]
    assert run("compare").exit_code == 0
    assert signed_in.requests[-1].path == "/compare.csv"
    assert signed_in.requests[-1].query == {"model": ["kimi-k3"], "isl": ["1024"]}
    assert run("compare", "--all").exit_code == 0
    assert (signed_in.requests[-1].path, signed_in.requests[-1].query) == ("/compare.csv", {})
    assert len(signed_in.requests) == 2, "--all asks for no first view"


@pytest.mark.parametrize("path", ["/compare/?model=a&chip=b&chip=c", "/compare.csv?model=a&chip=b&chip=c"])
def test_a_pasted_address(signed_in, run, path):
    assert run("compare", signed_in.url + path, "--param", "tier=spot").exit_code == 0
    assert signed_in.requests[0].query == {"model": ["a"], "chip": ["b", "c"], "tier": ["spot"]}
    assert run("compare", path).exit_code == 0
    assert signed_in.requests[1].query == {"model": ["a"], "chip": ["b", "c"]}


def test_another_sites_address_does_not_get_our_token(site, home, run, monkeypatch):
    monkeypatch.setenv("FUSEBOARD_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("FUSEBOARD_TOKEN", "fb_secret")
    assert run("compare", f"{site.url}/compare/?model=a").exit_code == 0
    assert "Authorization" not in site.requests[0].headers


def test_no_rows(signed_in, run):
    signed_in.compare = CSV.split(b"\r\n")[0] + b"\r\n"
    result = run("compare")
    assert result.exit_code == 0
    assert "no rows match" in result.stderr


def test_rows_that_agree_in_everything_are_still_shown(signed_in, run):
    signed_in.compare = b"chip,model\r\na,b\r\na,b\r\n"
    assert len(run("compare").stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (problem_of("not-signed-in"), 4),
        (problem_of("bad-query"), 1),
        (says(200, b"<html>", "text/html"), 3),
        (says(302, Location="/account/sign-in/"), 3),
    ],
)
def test_what_is_no_table(signed_in, run, answer, code):
    signed_in.faults = [answer]
    result = run("compare", "--all")
    assert result.exit_code == code
    assert result.stdout == ""


def test_a_wrong_param(signed_in, run):
    assert run("compare", "--param", "chip").exit_code == 2
    assert signed_in.requests == []
