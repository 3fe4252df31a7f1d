"""The HTTP API as a client sees it."""

import gzip
import json
import uuid

import pytest
import zstandard

from bench_site.ingest.catalogue import near
from bench_site.runs.models import Chip, Run
from bench_site.runs.models.words import Role, Scope
from runners.contract.problems import PROBLEMS, Problem
from runners.contract.receipt import BatchAnswer, Receipt
from tests.ingest.making import document, machine_token, point, token_of, uuid7

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(client):
    """POST JSON (or bytes) with a token of kim, unless another is given."""
    token = token_of("kim")

    def post(path: str, body: object, *, token: str | None = token, **headers: str):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if token:
            headers["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        headers.setdefault("content_type", "application/json")
        return client.post(path, data, **headers)

    return post


def the_problem(response, code: str) -> Problem:
    assert response.headers["Content-Type"] == "application/problem+json", response.content[:300]
    found = Problem.model_validate_json(response.content)
    assert (found.code, response.status_code) == (code, PROBLEMS[code][0]), found
    return found


def test_stored_then_unchanged(post) -> None:
    body = document()
    first = post("/api/v1/runs", body)
    assert first.status_code == 201, first.content
    assert first.headers["Location"] == f"/api/v1/runs/{body['id']}"
    receipt = Receipt.model_validate_json(first.content)
    assert (receipt.outcome, receipt.url) == ("stored", f"/runs/{body['id']}/")
    again = post("/api/v1/runs", json.dumps(body, indent=3, sort_keys=True).encode())
    assert again.status_code == 200
    assert Receipt.model_validate_json(again.content).outcome == "unchanged"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_compressed_bodies(post, encoding: str) -> None:
    plain = json.dumps(document()).encode()
    packed = gzip.compress(plain) if encoding == "gzip" else zstandard.ZstdCompressor().compress(plain)
    assert post("/api/v1/runs", packed, HTTP_CONTENT_ENCODING=encoding).status_code == 201
    several = gzip.compress(plain[:50]) + gzip.compress(plain[50:])
    assert post("/api/v1/runs", several, HTTP_CONTENT_ENCODING="gzip").status_code == 200


def test_the_kept_bytes_are_those_received_decompressed(post, client) -> None:
    body = document()
    plain = json.dumps(body).encode()
    post("/api/v1/runs", gzip.compress(plain), HTTP_CONTENT_ENCODING="gzip")
    response = client.get(f"/api/v1/runs/{body['id']}/raw")
    assert b"".join(response.streaming_content) == plain
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "sandbox"


def test_another_content_names_each_differing_field(post) -> None:
    body = document(tags=["a"])
    post("/api/v1/runs", body)
    other = json.loads(json.dumps(body))
    other["points"][0]["metrics"]["ttft"]["p50"] = 0.19
    other["tags"] = ["a", "b"]
    del other["engine"]["version"]
    found = the_problem(post("/api/v1/runs", other), "conflict")
    assert {(e.path, e.found, e.allowed) for e in found.errors} == {
        ("points[0].metrics.ttft.p50", "0.19", "stored: 0.16"),
        ("tags", '"a, b"', 'stored: "a"'),
        ("engine.version", "unknown", 'stored: "0.25.1"'),
    }
    said = "You now say: engine.version unknown (was 0.25.1), "
    assert said in found.detail and found.detail.endswith("with --amend, or use a new id.")


def test_a_part_that_only_one_side_has_is_told_by_its_fields(post) -> None:
    body = document(system={})
    post("/api/v1/runs", body)
    other = {**body, "system": {"machine": "lab1", "pools": [{"chip": "h200", "chips": 8}]}}
    found = the_problem(post("/api/v1/runs", other), "conflict")
    assert {(e.path, e.found, e.allowed) for e in found.errors} == {
        ("system.machine", '"lab1"', "stored: unknown"),
        ("system.pools[0].role", '"all"', "stored: unknown"),
        ("system.pools[0].chip", '"h200"', "stored: unknown"),
        ("system.pools[0].chips", "8", "stored: unknown"),
    }


def test_an_unknown_name_close_to_a_known_one_is_asked_about(post) -> None:
    Chip.objects.create(slug="a100sxm80gb", name="A100 SXM 80GB")
    system = {"pools": [{"chip": "a100", "chips": 8}]}
    hint = "the chip a100 is not in the catalogue; did you mean a100sxm80gb (A100 SXM 80GB)?"
    assert post("/api/v1/runs?dry_run=true", document(system=system)).json()["notes"] == [hint]
    assert post("/api/v1/runs", document(system=system)).json()["notes"] == [hint]
    assert not Chip.objects.get(slug="a100").known, "a question, not a mapping"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("a100", "a100sxm80gb"), ("h20", None), ("hh200", "h200"), ("b300", None), ("mi355", "mi355x"), ("x", None)],
)
def test_near_names_have_the_same_numbers(name, meant) -> None:
    assert near(name, ["a100sxm80gb", "b200", "h200", "mi300x", "mi355x"]) == meant


def test_amend_writes_a_revision(post, client) -> None:
    body = document()
    post("/api/v1/runs", body)
    response = post("/api/v1/runs?amend=true&reason=typo", {**body, "tags": ["mended"]})
    assert response.status_code == 200
    assert Receipt.model_validate_json(response.content).revision == 2
    read = client.get(f"/api/v1/runs/{body['id']}").json()
    assert read["report"]["tags"] == ["mended"]
    assert [(r["number"], r["by"], r["reason"]) for r in read["revisions"]] == [(1, "kim", None), (2, "kim", "typo")]
    assert client.get(f"/api/v1/runs/{body['id']}?revision=1").json()["report"]["tags"] == []
    the_problem(client.get(f"/api/v1/runs/{body['id']}?revision=7"), "not-found")


def test_dry_run(post) -> None:
    response = post("/api/v1/runs?dry_run=true", document())
    assert response.status_code == 200 and response.json()["outcome"] == "checked"
    assert Run.objects.count() == 0


def test_read_back_with_etag_and_samples(post, client) -> None:
    body = document(points=[point(samples={"ttft": [0.15, 0.16, 0.17], "failed": [False, False, False]})])
    post("/api/v1/runs", body)
    address = f"/api/v1/runs/{body['id']}"
    first = client.get(address)
    assert "samples" not in first.json()["report"]["points"][0]
    assert client.get(address, HTTP_IF_NONE_MATCH=first.headers["ETag"]).status_code == 304
    full = client.get(f"{address}?samples=true").json()
    assert full["report"]["points"][0]["samples"]["ttft"] == [0.15, 0.16, 0.17]
    assert client.head(address).status_code == 200


def test_whoami(client) -> None:
    by_person = client.get("/api/v1/whoami", HTTP_AUTHORIZATION=f"Bearer {token_of('kim')}").json()
    assert by_person == {
        "user": "kim", "machine": None, "role": "uploader", "scopes": ["push", "read"], "measures": False,
    }  # fmt: skip
    by_machine = client.get("/api/v1/whoami", HTTP_AUTHORIZATION=f"Bearer {machine_token('node-7')}").json()
    assert (by_machine["user"], by_machine["machine"], by_machine["measures"]) == (None, "node-7", True)
    the_problem(client.get("/api/v1/whoami"), "not-signed-in")


def test_a_batch_answers_each_item_on_its_own(post) -> None:
    good, same, bad, twice = document(), document(), document(status="done"), document()
    post("/api/v1/runs", same)
    text = json.dumps({"reports": [good, bad, same, twice, {**twice, "tags": ["x"]}, 7, good]})
    text = text.replace('"seed": 5', '"seed": 5, "seed": 6')
    response = post("/api/v1/runs:batch", text.encode())
    assert response.status_code == 200
    items = BatchAnswer.model_validate_json(response.content).items
    assert [item.index for item in items] == list(range(7))
    assert [item.status for item in items] == [201, 422, 200, 201, 409, 422, 200]
    assert items[1].problem.errors[0].path == "status"
    assert items[6].receipt.outcome == "unchanged"
    assert Run.objects.count() == 3
    assert Run.objects.get(id=twice["id"]).raw_record == 3


def test_who_may_push(post) -> None:
    the_problem(post("/api/v1/runs", document(), token=None), "not-signed-in")
    the_problem(post("/api/v1/runs", document(), token="fb_xxxxxxxxxx_nothing"), "not-signed-in")
    the_problem(post("/api/v1/runs", document(), token=token_of("kim", (Scope.READ,))), "forbidden")
    other_machine = post("/api/v1/runs", document(), token=machine_token("node-9"))
    assert "node-9" in the_problem(other_machine, "forbidden").detail
    assert Run.objects.count() == 0


def test_another_persons_run_is_never_overwritten_and_nothing_leaks(post) -> None:
    body = document(notes="kim's own words")
    post("/api/v1/runs", body)
    lee = token_of("lee")
    found = the_problem(post("/api/v1/runs", {**body, "notes": "lee"}, token=lee), "conflict")
    assert found.errors == [] and "kim" not in found.model_dump_json()
    refused = the_problem(post("/api/v1/runs?amend=1", {**body, "notes": "lee"}, token=lee), "forbidden")
    assert "kim" not in refused.model_dump_json()
    assert Run.objects.get().revision == 1
    assert post("/api/v1/runs", body, token=lee).json()["outcome"] == "unchanged", "the same content is no attack"
    operator = token_of("op", role=Role.OPERATOR)
    assert post("/api/v1/runs?amend=1", {**body, "notes": "mended"}, token=operator).status_code == 200


def test_addresses_that_are_not_there(client, post) -> None:
    the_problem(client.get(f"/api/v1/runs/{uuid7(9)}"), "not-found")
    the_problem(client.get("/api/v1/nothing/here"), "not-found")
    the_problem(post("/api/v1/runs/batch", b"{}"), "not-found")
    the_problem(client.get(f"/api/v1/uploads/{uuid.uuid4()}", HTTP_AUTHORIZATION=f"Bearer {token_of()}"), "not-found")
    found = the_problem(client.delete("/api/v1/runs", HTTP_AUTHORIZATION=f"Bearer {token_of()}"), "method-not-allowed")
    assert "POST" in found.detail
    the_problem(client.get("/api/v1/schema", HTTP_ACCEPT="application/xml"), "not-acceptable")


def test_unknown_and_wrong_parameters_are_named(post) -> None:
    found = the_problem(post("/api/v1/runs?ammend=true&dry_run=maybe", document()), "bad-query")
    assert [error.path for error in found.errors] == ["dry_run", "ammend"]
    found = the_problem(post("/api/v1/uploads?chips=eight&chip=a&chip=b&evidence=sure", b"{}"), "bad-query")
    assert {error.path for error in found.errors} == {"chips", "chip", "evidence"}


def test_the_docs_load_nothing_from_elsewhere(client) -> None:
    page = client.get("/api/v1/docs").content.decode()
    assert "swagger" in page and "//cdn" not in page and "https://" not in page


def test_a_deleted_run_answers_gone(post, client) -> None:
    from django.utils import timezone

    body = document()
    post("/api/v1/runs", body)
    Run.objects.update(deleted_at=timezone.now())
    the_problem(client.get(f"/api/v1/runs/{body['id']}"), "gone")
    the_problem(post("/api/v1/runs", body), "gone")
    the_problem(post("/api/v1/runs?amend=true", {**body, "tags": ["x"]}), "gone")


def test_a_retracted_run_stays_out_when_amended(post) -> None:
    from django.utils import timezone

    body = document()
    post("/api/v1/runs", body)
    Run.objects.update(retracted_at=timezone.now(), retracted_reason="wrong fan")
    assert "retracted" in post("/api/v1/runs", body).json()["notes"][0]
    assert post("/api/v1/runs?amend=true", {**body, "tags": ["x"]}).status_code == 200
    assert Run.objects.get().points.get().counts is False
