"""Run ids: UUIDv7 from a client, UUIDv5 from a file."""

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.contract import ids
from runners.contract.ids import file_run_id, new_run_id


def milliseconds(value: UUID) -> int:
    return value.int >> 80


def test_a_new_id_is_a_uuid7_of_now():
    before = time.time_ns() // 1_000_000
    value = new_run_id()
    after = time.time_ns() // 1_000_000
    assert value.version == 7
    assert value.variant == RFC_4122
    assert before <= milliseconds(value) <= after


def test_later_ids_sort_later(monkeypatch):
    moments = iter(range(1_700_000_000_000_000_000, 1_700_000_001_000_000_000, 1_000_000))
    monkeypatch.setattr(ids.time, "time_ns", lambda: next(moments))
    made = [new_run_id() for _ in range(1_000)]
    assert made == sorted(made)


@given(
    moment=st.integers(min_value=0, max_value=(2**48 - 1) * 1_000_000),
    noise=st.binary(min_size=10, max_size=10),
)
def test_any_moment_and_any_randomness_give_a_valid_id(moment, noise):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids.time, "time_ns", lambda: moment)
        patch.setattr(ids.os, "urandom", lambda n: noise[:n])
        value = new_run_id()
    assert (value.version, value.variant) == (7, RFC_4122)
    assert milliseconds(value) == moment // 1_000_000
    assert UUID(str(value)) == value


def test_the_random_bits_reach_the_id():
    """62 + 12 bits: two ids of one millisecond differ although the clock does not."""
    low = {new_run_id().int & (2**62 - 1) for _ in range(2_000)}
    assert len(low) == 2_000


def test_threads_never_draw_the_same_id():
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_run_id(), range(20_000)))
    assert len(set(made)) == len(made)


@given(content=st.binary(max_size=64), record=st.integers(min_value=0, max_value=10_000))
def test_a_file_always_gives_the_same_id(content, record):
    digest = hashlib.sha256(content).hexdigest()
    assert file_run_id(digest, record) == file_run_id(digest, record)
    assert file_run_id(digest, record).version == 5
    assert file_run_id(digest, record) != file_run_id(digest, record + 1)


def test_the_namespace_never_changes():
    """A stored file would be stored a second time under its new id."""
    digest = hashlib.sha256(b"fuseboard").hexdigest()
    assert file_run_id(digest, 0) == UUID("58e850ca-63bf-53b8-95b8-aa59b50c9c14")
