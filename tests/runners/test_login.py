"""``fuseboard login``: the token is checked, kept for its owner alone, and never shown."""

import json
import stat

import pytest

from runners.settings import config_file
from tests.runners.fakesite import TOKEN, says
from tests.runners.tools import report, write


def test_the_token_is_read_from_standard_input_and_kept(home, site, run):
    result = run("login", site.url + "/", given=TOKEN + "\n")
    assert result.exit_code == 0
    assert f"signed in to {site.url} as mei, machine node-1; the token may push" in result.stdout
    assert TOKEN not in result.output
    saved = config_file()
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert json.loads(saved.read_text())["sites"][site.url]["token"] == TOKEN


def test_afterwards_a_push_needs_nothing_else(home, site, run):
    run("login", site.url, "--token", TOKEN)
    assert run("push", write(home, "r.json", report())).exit_code == 0


def test_a_token_that_the_site_does_not_know_is_not_kept(home, site, run):
    result = run("login", site.url, "--token", "fb_wrong")
    assert result.exit_code == 4
    assert "does not know this token" in result.stderr
    assert "fb_wrong" not in result.output
    assert not config_file().exists()


@pytest.mark.parametrize(
    ("answer", "code"), [(says(200, b"<html>", "text/html"), 3), (says(301, Location="https://x.example/"), 3)]
)
def test_an_address_that_is_no_site(home, site, run, answer, code):
    site.faults = [answer]
    result = run("login", site.url, "--token", TOKEN)
    assert result.exit_code == code
    assert "nothing was saved" in result.stderr
    assert not config_file().exists()


@pytest.mark.parametrize("url", ["bench.example", "ftp://bench.example", "http://me:secret@bench.example"])
def test_a_wrong_address(home, run, url):
    result = run("login", url, "--token", TOKEN)
    assert result.exit_code == 2
    assert "secret" not in result.output


def test_no_token(home, site, run):
    assert run("login", site.url, given="\n").exit_code == 2


def test_a_token_with_a_line_end_in_it(home, site, run):
    result = run("login", site.url, "--token", "a\nb")
    assert result.exit_code == 4
    assert "Traceback" not in result.output
