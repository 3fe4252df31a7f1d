"""The contract as JSON Schema: ``python -m runners.contract.schema`` writes ``report.schema.json`` beside this file.

The schema says less than the models: it has no words for "exactly one of these four" or "columns of equal length". A
report that passes it can still be refused; one that fails it always is.
"""

import json
from pathlib import Path
from typing import Any

from runners.contract.report import Report

DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: A name, not an address to fetch: an offline site must not make anybody ask the internet for it.
SCHEMA_ID = "urn:fuseboard:contract:report:1"
COMMITTED = Path(__file__).with_name("report.schema.json")
EXAMPLES = Path(__file__).with_name("examples")


def report_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of one report as it is sent."""
    schema = Report.model_json_schema(mode="validation")
    return {
        "$schema": DIALECT,
        "$id": SCHEMA_ID,
        **schema,
        "title": "Fuseboard benchmark report, contract v1",
    }


def schema_text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the committed file."""
    COMMITTED.write_text(schema_text(), encoding="utf-8")
    print(f"wrote {COMMITTED}")


if __name__ == "__main__":
    main()
