"""``python -m bench_site.formats parse``: a table for people, JSON for checks, exit codes as documented."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench_site.formats.__main__ import main
from tests.formats.shapes import agg, as_bytes, server_info, sglang, vllm, vllm_detailed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tool" / "sub").mkdir(parents=True)
    (tmp_path / "tool" / "b.json").write_bytes(as_bytes(vllm_detailed()))
    (tmp_path / "tool" / "a.txt").write_bytes(as_bytes(sglang(), sglang(request_rate=2.0, max_concurrency=None)))
    (tmp_path / "tool" / "sub" / "c").write_bytes(as_bytes(agg()))
    return tmp_path


def test_json_has_one_line_a_file_with_flat_points(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--json", str(folder)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["file"] for line in lines] == ["tool/a.txt", "tool/b.json", "sub/c"]
    first, second, third = lines
    assert [point["load"] for point in first["points"]] == [{"concurrency": 8}, {"request_rate": 2.0}]
    assert second["verdict"] == "flag" and second["reason"] and second["status"] == "completed"
    assert second["points"][0]["requests_failed"] == 1 and second["points"][0]["ttft_s"]["mean"] == pytest.approx(0.1)
    assert third["points"][0]["input_tokens_asked"] == 1024 and "requests_sent" not in third["points"][0]


def test_a_refused_file_is_exit_status_1_and_has_no_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert main(["parse", "--json", str(tmp_path / "x.json")]) == 1
    line = json.loads(capsys.readouterr().out)
    assert line["verdict"] == "refuse" and line["reason"] and "tool" not in line and line["points"] == []


def test_a_path_that_cannot_be_read_is_exit_status_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", str(tmp_path / "absent.json")]) == 3
    assert "absent.json: No such file" in capsys.readouterr().err


def test_wrong_usage_is_exit_status_2() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["parse"])
    assert caught.value.code == 2


def test_the_table_says_what_was_understood_and_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = sglang(server_info=server_info(api_key="secret-value", model_path="acme/[red]tiny"))
    (tmp_path / "r.jsonl").write_bytes(as_bytes(record))
    assert main(["parse", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for words in ("SGLang bench_serving", "accept", "2 ?", "concurrency 8", "--chip CHIP", "removed before storing"):
        assert words in text
    assert "acme/[red]tiny" in text, "markup in a name is text"
    assert "secret-value" not in text


def test_it_runs_as_a_module_without_django(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_bytes(as_bytes(vllm()))
    code = (
        "import sys; from bench_site.formats.__main__ import main; status = main(sys.argv[1:]); "
        "assert not [name for name in sys.modules if name.split('.')[0] in ('django', 'celery')]; sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "parse", "--json", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tool"] == "vllm-bench-serve"
