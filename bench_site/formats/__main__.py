"""``python -m bench_site.formats parse [--json] PATHS``: what the importers understand of files and folders.

Exit status: 0 every file was read (flagged ones too); 1 at least one was refused; 2 wrong usage; 3 a path cannot be
read.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from bench_site.formats.registry import read
from bench_site.formats.show import as_plain, print_reading


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench_site.formats", description=(__doc__ or "").split("\n\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    parse = verbs.add_parser("parse", help="print what was understood of files")
    parse.add_argument("--json", action="store_true", help="one JSON object a line, one a file")
    parse.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder to walk")
    given = parser.parse_args(arguments)
    # A pipe has no width of its own; 80 columns would cut the table short.
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else 160)
    refused = unreadable = 0
    for path in given.paths:
        for file in _files(path):
            try:
                data = file.read_bytes()
            except OSError as error:
                print(f"{file}: {error.strerror}", file=sys.stderr)
                unreadable += 1
                continue
            reading = read(data)
            refused += reading.verdict == "refuse"
            label = "/".join(file.parts[-2:])
            if given.json:
                print(json.dumps(as_plain(label, reading), ensure_ascii=True, allow_nan=False))
            else:
                print_reading(console, str(file), reading)
    return 3 if unreadable else 1 if refused else 0


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file())
    else:
        yield path


if __name__ == "__main__":
    sys.exit(main())
