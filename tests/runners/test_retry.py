"""The one retry table: what, how long, and when not any more."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.contract.problems import PROBLEMS
from runners.retry import RETRY_STATUSES, Patience, retry_after_seconds

NOON = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)


def test_these_statuses_and_no_others():
    assert {429, 500, 502, 503, 504} == RETRY_STATUSES


def test_the_sites_own_codes_are_final_unless_they_say_later():
    """A code that is new in the contract must be put on one of the two sides on purpose."""
    assert {code for code, (status, _, _) in PROBLEMS.items() if status in RETRY_STATUSES} == {
        "too-many-requests",
        "internal",
        "busy",
    }


def test_waits_double_up_to_a_ceiling():
    patience = Patience(first=1, factor=2, longest=10, total=1e9)
    waits = [patience.pause(tries=tries, spent=0, draw=lambda: 1.0) for tries in range(1, 8)]
    assert waits == [1, 2, 4, 8, 10, 10, 10]


def test_half_of_a_wait_is_drawn():
    patience = Patience(first=1, total=100)
    assert patience.pause(tries=1, spent=0, draw=lambda: 0.0) == 0.5
    assert patience.pause(tries=1, spent=0, draw=lambda: 1.0) == 1.0


def test_it_ends_when_the_total_is_used_up():
    patience = Patience(first=1, total=10)
    assert patience.pause(tries=1, spent=8.9, draw=lambda: 1.0) == 1.0
    assert patience.pause(tries=1, spent=9.1, draw=lambda: 1.0) is None
    assert Patience(total=0).pause(tries=1, spent=0) is None


def test_retry_after_is_never_undercut():
    patience = Patience(first=0.5, longest=2, total=60)
    assert 20 <= (patience.pause(tries=1, spent=0, retry_after=20) or 0) <= 20.5
    assert patience.pause(tries=1, spent=50, retry_after=20) is None, "knocking early would be worse than giving up"


@given(tries=st.integers(1, 10_000), spent=st.floats(0, 1e6), draw=st.floats(0, 1))
def test_a_wait_is_never_negative_and_never_past_the_total(tries, spent, draw):
    patience = Patience()
    pause = patience.pause(tries=tries, spent=spent, draw=lambda: draw)
    assert pause is None or (0 < pause <= patience.longest and spent + pause <= patience.total)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Thu, 01 Oct 2026 12:01:00 GMT", 60.0),
        ("Thu, 01 Oct 2026 11:00:00 GMT", 0.0),
        ("-5", None),
        ("soon", None),
        ("1.5", None),
        ("\u0661\u0662", None),
        ("9" * 5_000, 366 * 86_400.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, seconds):
    assert retry_after_seconds(header, now=NOON) == seconds
