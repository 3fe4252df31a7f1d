"""The command as a whole: what it imports, what it documents, and the small commands."""

import json
import subprocess
import sys

import pytest
import typer

from runners.cli import app
from runners.contract.context import Context
from runners.contract.schema import report_schema
from runners.contract.vocabulary import Evidence, KernelStrategy, PoolRole
from runners.exits import MEANING, Exit
from runners.settings import ENVIRONMENT
from tests.runners.tools import ROOT

DOC = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def commands():
    """Every command by its full name, e.g. ``outbox flush``."""

    def walk(command, name):
        yield name, command
        for child_name, child in getattr(command, "commands", {}).items():
            yield from walk(child, f"{name} {child_name}".strip())

    return dict(walk(typer.main.get_command(app), ""))


def options():
    return [
        (name, option)
        for name, command in commands().items()
        for parameter in command.params
        for option in [*parameter.opts, *parameter.secondary_opts]
        if option.startswith("--") and "completion" not in option
    ]


@pytest.mark.parametrize("name", [name for name in commands() if name])
def test_every_command_is_documented(name):
    assert f"## fuseboard {name}" in DOC


@pytest.mark.parametrize(("name", "option"), options())
def test_every_option_is_documented(name, option):
    top = name.split()[0] if name else ""
    section = DOC.split(f"## fuseboard {top}", 1)[1].split("\n## ", 1)[0]
    assert f"`{option}" in section, f"docs/cli.md does not say what {option} of `fuseboard {name}` does"


def test_no_option_is_documented_that_does_not_exist():
    import re

    named = set(re.findall(r"^\| `(--[a-z-]+)", DOC, re.MULTILINE))
    assert named <= {option for _, option in options()}


@pytest.mark.parametrize("code", Exit)
def test_every_exit_code_is_documented(code):
    assert f"| {code.value} | " in DOC
    assert code in MEANING


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_every_variable_is_documented(name):
    assert f"| `{name}` | " in DOC


def test_every_fact_of_the_context_is_an_option_of_push():
    offered = {option for name, option in options() if name == "push"}
    assert {f"--{field.replace('_', '-')}" for field in Context.model_fields} <= offered


@pytest.mark.parametrize("words", [KernelStrategy, Evidence])
def test_the_help_lists_the_contracts_words(words):
    helps = [parameter.help or "" for parameter in commands()["push"].params if hasattr(parameter, "help")]
    assert any(all(word in text for word in words) for text in helps)


def test_roles_are_documented():
    assert all(f"`{role}`" in DOC for role in PoolRole)


def test_the_command_imports_neither_django_nor_anything_heavy():
    code = "import sys, runners.cli; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    top = {name.split(".")[0] for name in modules.stdout.split()}
    heavy = {
        "django",
        "bench_site",
        "pydantic",
        "httpx2",
        "zstandard",
        "numpy",
        "pandas",
        "jax",
        "torch",
        "docker",
        "celery",
    }
    assert top & heavy == set()


def test_a_whole_push_imports_nothing_of_the_site():
    code = "import sys, runners.commands.round_trip; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    top = {name.split(".")[0] for name in modules.stdout.split()}
    assert top & {"django", "bench_site", "numpy", "pandas", "celery", "ninja"} == set()


def test_schema_prints_the_schema(run):
    assert json.loads(run("schema").stdout) == report_schema()


def test_version(run):
    assert "contract v1" in run("version").stdout


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_help(run, name):
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_an_unknown_command_is_a_usage_error(run):
    assert run("pusch").exit_code == 2
