"""Whatever is posted gets a 4xx that teaches, and nothing is stored."""

import io
import json
from collections import Counter

import pytest

from runners.contract.problems import PROBLEMS, Problem
from tests.hostile.corpus import CASES, REPORT, Case, good
from tests.ingest.making import counts, document, token_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_limits(settings):
    """Limits that a test can exceed; what they are is tested elsewhere."""
    settings.MAX_RECEIVED_BYTES = 1536 * 1024
    settings.MAX_DECOMPRESSED_BYTES = 2 << 20


@pytest.fixture
def send(client, small_limits):
    token = token_of("kim")

    def send(case: Case):
        # A stream as a server gives it: the test client's own refuses to end before its length.
        stream = {"wsgi.input": io.BytesIO(case.body), "CONTENT_LENGTH": str(len(case.body))}
        headers = {"HTTP_AUTHORIZATION": f"Bearer {token}", **stream, **case.headers}
        media = headers.pop("CONTENT_TYPE", "application/json")
        client.raise_request_exception = True  # an exception that leaves a view fails the test with its traceback
        return client.post(case.path, case.body, content_type=media, **headers)

    return send


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused_with_a_reason_and_nothing_stored(case: Case, send) -> None:
    before = counts()
    response = send(case)
    assert response.headers["Content-Type"] == "application/problem+json", response.content[:500]
    found = Problem.model_validate_json(response.content)
    assert found.code == case.code, found
    assert found.status == response.status_code == PROBLEMS[case.code][0]
    assert found.detail and found.remedy
    paths = [error.path for error in found.errors]
    assert set(case.names) <= set(paths), paths
    assert all(error.message for error in found.errors)
    assert counts() == before


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    names = Counter(case.name for case in CASES)
    assert max(names.values()) == 1
    assert len(CASES) >= 60


def test_a_byte_order_mark_is_no_harm(send) -> None:
    assert send(Case("BOM", "", b"\xef\xbb\xbf" + good())).status_code == 201


def test_a_script_in_a_name_is_text(send, client) -> None:
    name = "<script>alert(1)</script>"
    body = document(model={"name": name}, notes="<img src=x onerror=alert(1)>")
    assert send(Case("script", "", json.dumps(body).encode())).status_code == 201
    response = client.get(f"{REPORT}/{body['id']}")
    assert response.headers["Content-Type"] == "application/json"
    assert response.json()["report"]["model"]["name"] == name


def test_another_persons_id_is_refused(send, client) -> None:
    mine = document()
    assert send(Case("mine", "", json.dumps(mine).encode())).status_code == 201
    before = counts()
    theirs = {"HTTP_AUTHORIZATION": f"Bearer {token_of('lee')}"}
    for query in ("", "?amend=true"):
        response = client.post(f"{REPORT}{query}", json.dumps({**mine, "notes": "lee"}), "application/json", **theirs)
        assert response.status_code in (403, 409)
    assert counts() | {"User": 0, "Token": 0} == before | {"User": 0, "Token": 0}


def test_every_problem_can_be_read_by_the_client(send) -> None:
    """A problem must leave as UTF-8 whatever came in."""
    response = send(Case("odd", "", json.dumps(document(status="\u2028\U0001f600" * 80)).encode()))
    assert Problem.model_validate_json(response.content).errors[0].path == "status"
