"""Published result files of many tools, where they are at hand: what we read is what a careful person reads.

The files and the expected values are not part of this repository. A build server (CI=true) must have them.
"""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from bench_site.formats import Reading, read, redact
from bench_site.formats.__main__ import main
from bench_site.formats.load import load
from bench_site.formats.outcome import Refused
from bench_site.formats.registry import ADAPTERS, matches

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "results"
TOOLS = ("vllm-bench-serve", "sglang-bench-serving", "inferencex")

if not (FOLDER / "expected.json").is_file():
    if os.environ.get("CI", "").lower() in ("1", "true"):
        raise RuntimeError(f"{FOLDER} is not there, so the importers cannot be checked against published files")
    pytest.skip(
        f"NOT CHECKED against published files: {FOLDER} is not there. The importers' own fixtures are still tested.",
        allow_module_level=True,
    )


@cache
def files() -> list[Path]:
    return sorted(path for path in FOLDER.rglob("*") if path.is_file())


@cache
def reading(path: Path) -> Reading:
    return read(path.read_bytes())


def label(path: Path) -> str:
    return "/".join(path.parts[-2:])


def expected() -> dict[str, dict]:
    """The entries of the tools that are built so far; a text form of theirs is read by a later adapter."""
    entries = json.loads((FOLDER / "expected.json").read_text())
    return {
        name: entry
        for name, entry in entries.items()
        if entry["tool"] in TOOLS and not name.startswith("serve-console-text/")
    }


def test_the_independent_check_finds_nothing_wrong(tmp_path: Path) -> None:
    chosen = tmp_path / "expected.json"
    chosen.write_text(json.dumps(expected()))
    out = io.StringIO()
    with redirect_stdout(out):
        main(["parse", "--json", str(FOLDER)])
    done = subprocess.run(
        [sys.executable, str(FOLDER / "check_expected.py"), "--expected", str(chosen), "--all"],
        input=out.getvalue(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("extra ")], done.stdout
    assert len(expected()) >= 30


def test_what_the_check_does_not_look_at_is_right_too() -> None:
    """Model, engine, chips and the sampled points of long files."""
    wrong = []
    for name, entry in expected().items():
        found = reading(FOLDER / name)
        points = found.points()
        for place, want in [(None, entry), *entry.get("sample_points", {}).items()]:
            run, point = points[int(place or 0)]
            knows = want.get("knows", {})
            accepts = entry.get("knows_accepts", {})
            report = run.report
            chips = [pool.chips or 0 for pool in report.system.pools]
            have = {
                "model": report.model.name,
                "engine": report.engine.name,
                "engine_version": report.engine.version,
                "precision": report.model.precision.weights,
                "chip": report.system.pools[0].chip if report.system.pools else None,
                "chips": sum(chips),
            }
            wrong += [
                f"{name}: {key} is {have[key]}, expected {value}"
                for key, value in knows.items()
                if have[key] != value and have[key] not in accepts.get(key, [])
            ]
            if place is None:
                continue
            rates = point.metrics.rates.model_dump()
            either = want.get("either", {})
            wrong += [
                f"{name}[{place}]: {key} is {value}, expected {want.get(key)}"
                for key, value in rates.items()
                if value is not None
                and not any(
                    abs(value - other) < 1e-6 * value for other in [want.get(key), *either.get(key, [])] if other
                )
            ]
    assert not wrong, "\n".join(wrong)


def test_per_request_rows_give_the_percentiles_that_were_recomputed_independently() -> None:
    seen = 0
    for name, entry in expected().items():
        if "recomputed" not in entry:
            continue
        samples = reading(FOLDER / name).points()[0][1].samples
        assert samples is not None, name
        for metric in ("ttft", "tpot", "e2el"):
            want = entry["recomputed"].get(f"{metric}_s")
            column = [value for value in getattr(samples, metric) or [] if value is not None]
            if want and column:
                assert _percentile(column, 50) == pytest.approx(want["p50"], rel=1e-6), (name, metric)
                assert _percentile(column, 99) == pytest.approx(want["p99"], rel=1e-6), (name, metric)
                seen += 1
    assert seen >= 9


def _percentile(values: list[float], at: float) -> float:
    ordered = sorted(values)
    place = (len(ordered) - 1) * at / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def test_no_file_is_claimed_by_two_formats() -> None:
    for path in files():
        try:
            objects = load(path.read_bytes()).objects()
        except Refused:
            continue
        for record in objects:
            if isinstance(record, dict):
                claims = [(a.tool, s.variant) for a in ADAPTERS for s in a.signatures if matches(s, record)]
                assert len(claims) <= 1, (label(path), claims)


def test_files_of_other_tools_are_refused_with_a_code() -> None:
    known = set(expected())
    for path in files():
        found = reading(path)
        if label(path) not in known and found.verdict != "refuse":
            pytest.fail(f"{label(path)} is read as {found.tool}, which nobody expects")
        if found.verdict == "refuse":
            assert found.refusal is not None and found.refusal.code in (
                "unknown-format",
                "empty",
                "bad-json",
                "bad-encoding",
            )


def test_the_redacted_copy_of_every_file_reads_the_same() -> None:
    for path in files():
        data = path.read_bytes()
        clean, removed = redact(data)
        before = reading(path)
        after = read(clean, sha256=before.sha256)
        assert [run.report for run in after.runs] == [run.report for run in before.runs], label(path)
        if not removed:
            assert clean == data
        if before.verdict != "refuse":
            assert removed == before.secrets, label(path)


def test_a_files_name_and_its_keys_order_mean_nothing(tmp_path: Path) -> None:
    for name in list(expected())[::4]:
        data = (FOLDER / name).read_bytes()
        try:
            record = json.loads(data)
        except ValueError:
            continue
        if isinstance(record, dict):
            turned = json.dumps(dict(reversed(record.items()))).encode()
            assert [p for _, p in read(turned).points()] == [p for _, p in reading(FOLDER / name).points()], name


def test_cut_files_never_raise() -> None:
    for name in expected():
        data = (FOLDER / name).read_bytes()[:60_000]
        for part in range(1, 12):
            read(data[: len(data) * part // 12])
