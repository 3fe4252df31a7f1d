"""docs/formats.md says what the registry can: every tool, how its file is made, and every flag."""

import importlib
import re
from pathlib import Path

from bench_site.formats import __main__ as command
from bench_site.formats.registry import ADAPTERS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "formats.md").read_text()


def test_every_tool_has_a_section_with_its_name_and_how_to_produce_the_file() -> None:
    for adapter in ADAPTERS:
        section = TEXT.split(f"### {adapter.title}\n")[1].split("\n#")[0]
        assert f"`{adapter.tool}`" in section and adapter.produced_by in section
        for words in ("Carries:", "Lacks:"):
            assert words in section
    assert TEXT.count("\n### ") == len(ADAPTERS)


def test_every_flag_is_explained_and_no_other() -> None:
    used: set[str] = set()
    for module in (ROOT / "bench_site" / "formats").glob("*.py"):
        used |= set(re.findall(r'draft\.flag\(\s*"([a-z-]+)"', module.read_text()))
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", TEXT, re.MULTILINE))
    assert used == explained


def test_the_exit_codes_are_those_of_the_command() -> None:
    codes = (command.__doc__ or "").split("Exit status: ")[1].split(".")[0]
    assert " ".join(codes.split()) in " ".join(TEXT.split())


def test_every_adapter_says_what_it_reads_and_what_the_file_cannot_say() -> None:
    for adapter in ADAPTERS:
        doc = importlib.import_module(adapter.read.__module__).__doc__ or ""
        for words in ("Shapes" if "Shapes" in doc else "Seen", "Read, with the file's unit", "Cannot say"):
            assert words in doc, adapter.tool
