"""Raw files: read in the request or by a task, once, with what the sender says beside them."""

import json
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from bench_site.ingest import uploads
from bench_site.ingest.raw import raw_pieces
from bench_site.ingest.said import laid_over
from bench_site.ingest.tasks import parse_upload, sweep_uploads
from bench_site.runs.models import RawFile, Run, Upload
from bench_site.runs.models.words import Role
from runners.contract.problems import Problem
from runners.contract.receipt import UploadAnswer
from tests.ingest.making import counts, document, machine_token, token_of

pytestmark = pytest.mark.django_db

SAID = {"chip": "h200", "chips": "8", "evidence": "measured", "engine": "vllm"}


def serve_file(**changes: object) -> bytes:
    """A vLLM ``bench serve`` result."""
    return json.dumps({
        "date": "20260915-101500", "endpoint_type": "openai", "backend": "vllm", "label": None,
        "model_id": "meta/Example-8B", "tokenizer_id": "meta/Example-8B", "num_prompts": 200, "request_rate": "inf",
        "burstiness": 1.0, "max_concurrency": 8, "duration": 100.0, "completed": 200, "failed": 0,
        "total_input_tokens": 204800, "total_output_tokens": 25600, "request_throughput": 2.0, "request_goodput": None,
        "output_throughput": 256.0, "total_token_throughput": 2304.0, "mean_ttft_ms": 80.0, "median_ttft_ms": 78.0,
        "std_ttft_ms": 9.0, "p99_ttft_ms": 120.0, "mean_tpot_ms": 25.0, "median_tpot_ms": 24.9, "std_tpot_ms": 1.0,
        "p99_tpot_ms": 29.0, "mean_itl_ms": 25.0, "median_itl_ms": 24.0, "std_itl_ms": 3.0, "p99_itl_ms": 40.0,
        **changes,
    }).encode()  # fmt: skip


@pytest.fixture
def send(client):
    """POST a file; answers the response."""

    def send(data: bytes, *, token: str | None = None, **said: str):
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token or token_of()}"}
        query = urlencode({"filename": "result.json", **said}, doseq=True)
        return client.post(f"/api/v1/uploads?{query}", data, content_type="application/octet-stream", **headers)

    return send


def answer(response) -> UploadAnswer:
    assert response.status_code < 300, response.content
    return UploadAnswer.model_validate_json(response.content)


def refusal(response, code: str) -> Problem:
    found = Problem.model_validate_json(response.content)
    assert found.code == code and response.status_code == found.status, found
    return found


def test_a_file_is_read_stored_and_kept(send, client) -> None:
    data = serve_file()
    found = answer(send(data, **SAID))
    assert (found.state, found.tool, found.filename, found.bytes) == (
        "parsed",
        "vllm-bench-serve",
        "result.json",
        len(data),
    )
    (one,) = found.runs
    assert one.receipt.outcome == "stored" and one.understood.engine.name == "vllm"
    run = Run.objects.get(id=one.receipt.id)
    assert b"".join(raw_pieces(run.raw_file)) == data and run.raw_record == 0
    assert run.points.get().series.load_value == 8.0
    again = client.get(found.url, HTTP_AUTHORIZATION=f"Bearer {token_of()}")
    assert answer(again) == found


def test_the_same_file_twice_changes_nothing(send) -> None:
    data = serve_file()
    first = answer(send(data, **SAID))
    before = counts(), Upload.objects.get().answer
    second = send(data, **SAID)
    assert second.status_code == 200
    assert answer(second).id == first.id and answer(second).runs[0].receipt.outcome == "unchanged"
    assert (counts() | {"Token": 0}, Upload.objects.get().answer) == (before[0] | {"Token": 0}, before[1])


def test_another_context_is_a_conflict_and_amend_replaces_it(send) -> None:
    data = serve_file()
    send(data, **SAID)
    found = refusal(send(data, **{**SAID, "chips": "4"}), "conflict")
    assert [error.path for error in found.errors] == ["system.pools[0].chips"]
    amended = answer(send(data, **{**SAID, "chips": "4"}, amend="true", reason="counted again"))
    assert amended.runs[0].receipt.outcome == "amended" and amended.runs[0].receipt.revision == 2
    assert Run.objects.get().configuration.chips == 4


def test_a_conflict_says_what_was_said_before_and_how_to_store_it(send) -> None:
    data = serve_file()
    send(data, **SAID)
    found = refusal(send(data, **SAID, precision="mxfp4", machine="lab1"), "conflict")
    remedy = "To store that as a revision repeat the command with --amend."
    said = {"machine lab1 (was unknown)", "precision mxfp4 (was unknown)"}
    words = found.detail.removeprefix("This run is already stored. You now say: ").removesuffix(f". {remedy}")
    assert set(words.split(", ")) == said and found.remedy == remedy
    assert {error.path for error in found.errors} == {"system.machine", "model.precision.weights"}
    assert "keys" not in str(found) and "nothing" not in str(found)


def test_an_amendment_keeps_what_was_said_before(send) -> None:
    data = serve_file()
    send(data, **SAID, tag="first", set="workload.seed=1")
    answer(send(data, precision="mxfp4", amend="true"))
    amended = answer(send(data, machine="lab1", tag="second", set="workload.seed=2", amend="true"))
    (run,) = amended.runs
    assert run.receipt.revision == 3
    report = run.understood
    assert (report.system.pools[0].chip, report.system.pools[0].chips, report.engine.name) == ("h200", 8, "vllm")
    assert (report.model.precision.weights, report.system.machine) == ("mxfp4", "lab1")
    assert report.tags == ["first", "second"] and report.workload.seed == 2
    dry = answer(send(data, strategy="megakernel", amend="true", dry_run="true"))
    assert dry.runs[0].understood.model.precision.weights == "mxfp4"


def test_an_amendment_goes_on_from_the_newest_revision(send) -> None:
    data = serve_file()
    for precision in ("fp8", "fp4", "fp8"):
        answer(send(data, **SAID, precision=precision, amend="true"))
    assert answer(send(data, machine="lab1", amend="true")).runs[0].understood.model.precision.weights == "fp8"


def test_nobody_learns_what_another_said_by_amending(send) -> None:
    data = serve_file()
    send(data, **SAID, notes="between us")
    dry = send(data, token=token_of("lee"), amend="true", dry_run="true")
    assert "between us" not in dry.content.decode()


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({"chip": "h200", "chips": 8}, {"chips": 4}, {"chip": "h200", "chips": 4}),
        ({"pool": ["all:a:1"], "nodes": 1}, {"chip": "b"}, {"nodes": 1, "chip": "b"}),
        ({"chip": "b", "chips": 2, "nodes": 1}, {"pool": ["all:a:1"]}, {"pool": ["all:a:1"]}),
        ({"set": ["engine.version=1", "a.b=1"]}, {"engine_version": "2"}, {"set": ["a.b=1"], "engine_version": "2"}),
        ({"set": ["engine.version=1"]}, {"engine_version": "2"}, {"engine_version": "2"}),
        ({}, {"evidence": "mock"}, {"evidence": "mock"}),
    ],
)
def test_what_is_said_now_is_laid_over_what_was_said(before, now, found) -> None:
    assert laid_over(before, now) == found


def test_what_is_missing_is_asked_for_all_at_once(send) -> None:
    found = refusal(send(serve_file()), "missing-context")
    assert {error.path for error in found.errors} == {"system.pools[0].chip", "system.pools[0].chips", "evidence"}
    assert "--chip CHIP --chips N" in found.detail and "h200" not in found.detail
    assert "--evidence measured" in found.detail and "--source-url" in found.detail
    assert Run.objects.count() == RawFile.objects.count() == Upload.objects.count() == 0


def test_a_dry_run_says_what_was_understood_and_what_is_missing(send) -> None:
    before = counts()
    found = answer(send(serve_file(), dry_run="true"))
    assert found.state == "checked"
    assert {fact.path for fact in found.runs[0].missing if fact.required} >= {"evidence", "system.pools[0].chip"}
    assert found.runs[0].understood.points[0].metrics.tpot.p99 == pytest.approx(0.029)
    assert counts() | {"Token": 0, "User": 0} == before | {"Token": 0, "User": 0}


def test_who_measured(send) -> None:
    said = {"chip": "h200", "chips": "8"}
    refusal(send(serve_file(), **said), "missing-context")
    assert answer(send(serve_file(), **said, token=machine_token("node-7"))).runs[0].receipt.outcome == "stored"
    assert Run.objects.get().evidence == "measured" and Run.objects.get().machine.name == "node-7"
    refusal(send(serve_file(date="1"), **said, token=machine_token("node-8", registered=False)), "missing-context")
    assert send(serve_file(date="2"), **said, token=token_of("lee", measures=True)).status_code == 201


def test_published_needs_a_source(send) -> None:
    said = {"chip": "h200", "chips": "8", "evidence": "published"}
    assert "source" in refusal(send(serve_file(), **said), "missing-context").model_dump_json()
    assert send(serve_file(), **said, source_url="https://example.org/post").status_code == 201
    assert Run.objects.get().evidence == "published"
    assert Run.objects.get().points.get().series.origin == "https://example.org/post"


def test_a_setting_may_say_who_measured(send) -> None:
    said = {"chip": "h200", "chips": "8", "set": "evidence=simulated"}
    assert send(serve_file(), **said).status_code == 201
    assert Run.objects.get().evidence == "simulated"


def test_secrets_are_taken_out_before_anything_is_stored(send) -> None:
    data = serve_file(api_key="sk-abcdefghijklmnopqrst")
    found = answer(send(data, **SAID))
    assert found.removed == ["api_key"]
    stored = RawFile.objects.get()
    assert b"sk-abc" not in b"".join(raw_pieces(stored)) and stored.removed == ["api_key"]
    assert stored.size == len(data) and stored.sha256 == found.sha256


def test_a_file_of_several_runs_gets_a_receipt_each(send) -> None:
    data = b"\n".join(serve_file(date=f"20260915-10150{i}", max_concurrency=2**i) for i in range(3))
    found = answer(send(data, **SAID))
    assert [run.receipt.outcome for run in found.runs] == ["stored"] * 3
    assert sorted(Run.objects.values_list("raw_record", flat=True)) == [0, 1, 2]


def test_our_own_reports_are_understood(send) -> None:
    body = json.dumps(document()).encode()
    assert answer(send(body)).runs[0].receipt.outcome == "stored"
    both = json.dumps({"reports": [document(), document(status="done")]}).encode()
    found = answer(send(both))
    assert found.runs[0].receipt.outcome == "stored" and found.runs[1].problem.errors[0].path == "status"


def test_an_unknown_file_lists_what_is_supported(send) -> None:
    found = refusal(send(b'{"hello": 1}', **SAID), "unknown-format")
    assert len(found.extra["supported"]) >= 3
    assert Upload.objects.count() == RawFile.objects.count() == 0


# ------------------------------------------------------------------ large files


@pytest.fixture
def small_limit(settings):
    settings.PARSE_IN_REQUEST_BYTES = 500


def test_a_large_file_waits_for_its_task(send, client, small_limit) -> None:
    data = serve_file()
    response = send(data, **SAID)
    assert response.status_code == 202 and Run.objects.count() == 0
    found = answer(response)
    assert found.state == "received"
    parse_upload(str(found.id))
    done = answer(client.get(found.url, HTTP_AUTHORIZATION=f"Bearer {token_of()}"))
    assert done.state == "parsed" and done.runs[0].receipt.outcome == "stored"
    before = counts()
    parse_upload(str(found.id))
    assert counts() == before, "a task may run twice"


def test_a_large_file_sent_again_changes_no_run(send, client, small_limit) -> None:
    data = serve_file()
    first = answer(send(data, **SAID))
    parse_upload(str(first.id))
    assert answer(send(data, **SAID)).id == first.id
    parse_upload(str(first.id))
    done = answer(client.get(first.url, HTTP_AUTHORIZATION=f"Bearer {token_of()}"))
    assert done.runs[0].receipt.outcome == "unchanged" and Run.objects.count() == 1 and Upload.objects.count() == 1


def test_a_large_file_is_amended_by_what_is_said_alone(send, client, small_limit) -> None:
    data = serve_file()
    parse_upload(str(answer(send(data, **SAID)).id))
    found = answer(send(data, precision="mxfp4", amend="true"))
    parse_upload(str(found.id))
    done = answer(client.get(found.url, HTTP_AUTHORIZATION=f"Bearer {token_of()}"))
    assert done.runs[0].receipt.revision == 2 and done.runs[0].understood.system.pools[0].chip == "h200"


def test_a_large_file_that_cannot_be_read_says_why(send, client, small_limit) -> None:
    found = answer(send(b'{"hello": "' + b"x" * 1000 + b'"}', **SAID))
    parse_upload(str(found.id))
    done = answer(client.get(found.url, HTTP_AUTHORIZATION=f"Bearer {token_of()}"))
    assert done.state == "refused" and done.problem.code == "unknown-format"


def test_a_large_report_waits_as_well(client, small_limit) -> None:
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token_of()}"}
    response = client.post("/api/v1/runs", json.dumps(document()), content_type="application/json", **headers)
    assert response.status_code == 202
    found = answer(response)
    parse_upload(str(found.id))
    assert answer(client.get(found.url, **headers)).runs[0].receipt.outcome == "stored"


def test_the_sweep_finds_what_a_lost_message_left(send, small_limit) -> None:
    answer(send(serve_file(), **SAID))
    sweep_uploads()
    assert Run.objects.count() == 0, "its message may be on the way"
    Upload.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    sweep_uploads()
    assert Run.objects.count() == 1


def test_a_file_that_kills_its_worker_is_refused_in_the_end(send, small_limit, monkeypatch) -> None:
    found = answer(send(serve_file(), **SAID))

    def killed(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(uploads, "_read_and_accept", killed)
    for _ in range(uploads.MAX_ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            parse_upload(str(found.id))
    parse_upload(str(found.id))
    upload = Upload.objects.get()
    assert upload.state == "refused" and "3 times" in upload.answer["problem"]["detail"]


def test_only_its_sender_and_operators_see_an_upload(send, client) -> None:
    found = answer(send(serve_file(), **SAID))
    for token, status in ((token_of("lee"), 404), (token_of("op", role=Role.OPERATOR), 200), (token_of(), 200)):
        assert client.get(found.url, HTTP_AUTHORIZATION=f"Bearer {token}").status_code == status
    assert client.get(found.url).status_code == 401
