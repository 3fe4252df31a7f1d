"""The OpenAPI document as it is committed: ``python -m bench_site.ingest.openapi`` writes docs/openapi.json."""

import json
import os
from pathlib import Path

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


def openapi_text() -> str:
    """The document as the committed file holds it."""
    from bench_site.ingest.api import api

    return json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the committed file."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench_site.settings")
    django.setup()
    COMMITTED.write_text(openapi_text(), encoding="utf-8")
    print(f"wrote {COMMITTED}")


if __name__ == "__main__":
    main()
