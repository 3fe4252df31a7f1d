"""Real result files of other tools, where the collection is at hand: all of them twice, and never a 500."""

from pathlib import Path
from urllib.parse import urlencode

import pytest

from bench_site.runs.models import Run
from tests.ingest.making import counts, token_of

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "results"
TOOLS = ("vllm", "sglang", "inferencex")
FILES = [path for tool in TOOLS for path in sorted((FOLDER / tool).glob("*"))] if FOLDER.is_dir() else []

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FILES, reason="the collection of result files is not beside the repository"),
]


def push(client, token: str, path: Path, **said: str):
    query = urlencode({"filename": path.name, "chip": "h200", "evidence": "measured", **said})
    return client.post(
        f"/api/v1/uploads?{query}", path.read_bytes(), content_type="application/octet-stream",
        HTTP_AUTHORIZATION=f"Bearer {token}",
    )  # fmt: skip


def test_all_files_twice(client) -> None:
    token = token_of()
    first: dict[str, int] = {}
    for path in FILES:
        said = {} if path.parent.name == "inferencex" else {"chips": "8", "model": "example"}
        response = push(client, token, path, **said)
        assert response.status_code in (201, 422), (path.name, response.content[:500])
        first[path.name] = response.status_code
    assert sum(status == 201 for status in first.values()) > len(FILES) / 2, first
    before = counts()
    for path in FILES:
        said = {} if path.parent.name == "inferencex" else {"chips": "8", "model": "example"}
        response = push(client, token, path, **said)
        assert response.status_code == (200 if first[path.name] == 201 else 422), path.name
    assert counts() == before
    assert Run.objects.count() > 30


def test_every_other_file_is_refused_or_understood_but_no_500(client) -> None:
    token = token_of()
    for path in sorted(FOLDER.glob("*/*")):
        if path.parent.name not in TOOLS:
            response = push(client, token, path, chips="8", model="example")
            assert response.status_code in (200, 201, 400, 422), (path, response.content[:500])
            assert response.status_code < 400 or response.json()["detail"]
