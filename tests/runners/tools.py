"""What several tests of the runner need: small reports, files, and the command in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from runners.contract.ids import new_run_id
from runners.retry import Patience

ROOT = Path(__file__).parents[2]
#: Waits of milliseconds, so that a test of five tries takes no time.
QUICK = Patience(first=0.01, longest=0.02, total=5.0)


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "runners.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def report(**changes: Any) -> dict[str, Any]:
    """A small valid report under a new id."""
    return {
        "schema_version": "1",
        "id": str(new_run_id()),
        "evidence": "mock",
        "points": [{"load": {"concurrency": 1}, "metrics": {"rates": {"output_tokens_per_s": 10.0}}}],
        **changes,
    }


def write(folder: Path, name: str, content: Any) -> str:
    """A file with ``content`` (bytes as they are, anything else as JSON); returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)
