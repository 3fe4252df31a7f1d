"""The committed OpenAPI document and docs/api.md say what the code does."""

import json
from pathlib import Path
from typing import Any

import jsonschema

from bench_site.ingest.openapi import COMMITTED, openapi_text
from runners.contract.problems import PROBLEMS
from runners.contract.schema import EXAMPLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"


def test_the_committed_document_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == openapi_text(), "run: python -m bench_site.ingest.openapi"


def test_the_contracts_examples_follow_the_document() -> None:
    document = json.loads(openapi_text())
    schema = {"$ref": "#/components/schemas/Report", "components": document["components"]}
    for path in EXAMPLES.glob("*.json"):
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema)


def test_every_reference_in_the_document_leads_somewhere() -> None:
    text = openapi_text()
    names = json.loads(text)["components"]["schemas"].keys()
    wanted = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert wanted <= names


def test_the_page_names_every_address_and_every_problem() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for path, methods in json.loads(openapi_text())["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in page
    for code, (status, _, remedy) in PROBLEMS.items():
        assert f"| {status} | `{code}` |" in page and remedy in page


def test_no_object_of_the_document_names_a_key_twice() -> None:
    """Python's reader takes the last of two equal keys in silence; the browser's reader shows no page at all."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), names
        return dict(pairs)

    json.loads(openapi_text(), object_pairs_hook=once)
