"""Reports and callers for the tests of ingest, and a count of every table."""

import json
from typing import Any
from uuid import UUID

from django.apps import apps

from bench_site.fleet.tokens import Caller, caller_of_plain, caller_of_user, issue_token
from bench_site.runs.models import Machine, User
from bench_site.runs.models.words import Role, Scope
from runners.contract import Report
from runners.contract.ids import new_run_id


def document(**changes: Any) -> dict[str, Any]:
    """A small, plausible report as JSON data, with ``changes`` of its top-level fields."""
    return {
        "id": str(new_run_id()),
        "started_at": "2026-10-05T09:00:00+00:00",
        "evidence": "measured",
        "source": {"tool": "example-bench", "version": "1.0"},
        "system": {"machine": "node-1", "pools": [{"chip": "h200", "chips": 8, "nodes": 1}]},
        "model": {"name": "Example-70B", "precision": {"weights": "fp8"}},
        "engine": {"name": "vllm", "version": "0.25.1"},
        "strategy": {"kernel": "graph_capture", "speculative": {"method": "none"}},
        "workload": {"kind": "serving", "loop": "closed", "input_tokens": 1024, "output_tokens": 1024},
        "points": [point()],
        **changes,
    }


def point(concurrency: int = 8, scale: float = 1.0, **changes: Any) -> dict[str, Any]:
    """One load with 25 figures that agree with each other."""
    tpot, e2el = 0.010 * scale, 10.4 * scale
    rate = concurrency * 0.99 / e2el
    return {
        "load": {"concurrency": concurrency},
        "duration": 100.0,
        "concurrency_measured": concurrency * 0.99,
        "requests": {"sent": 100 * concurrency, "completed": 100 * concurrency, "failed": 0},
        "tokens": {"input_mean": 1024.0, "output_mean": 1024.0},
        "metrics": {
            "ttft": {"mean": 0.17, "p50": 0.16, "p90": 0.2, "p95": 0.22, "p99": 0.3, "std": 0.02},
            "tpot": {"mean": tpot, "p50": tpot, "p90": tpot * 1.1, "p95": tpot * 1.15, "p99": tpot * 1.2},
            "itl": {"mean": 0.0101 * scale, "p50": 0.01 * scale, "p99": 0.013 * scale},
            "e2el": {"mean": e2el, "p50": e2el, "p90": e2el * 1.05, "p99": e2el * 1.1},
            "rates": {
                "output_tokens_per_s": rate * 1024, "input_tokens_per_s": rate * 1024,
                "total_tokens_per_s": rate * 2048, "requests_per_s": rate,
            },
        },
        **changes,
    }  # fmt: skip


def report(**changes: Any) -> Report:
    """``document`` as a Report."""
    return Report.model_validate_json(json.dumps(document(**changes)), strict=True)


def changed(original: Report, **changes: Any) -> Report:
    """``original`` with other top-level fields, given as JSON data."""
    return Report.model_validate_json(json.dumps({**original.model_dump(mode="json"), **changes}), strict=True)


def person(name: str = "kim", role: Role = Role.UPLOADER) -> Caller:
    """A caller for a person, made at need."""
    return caller_of_user(User.objects.get_or_create(username=name, defaults={"role": role.value})[0])


def token_of(
    name: str = "kim", scopes: tuple[Scope, ...] = (Scope.PUSH, Scope.READ), role: Role = Role.UPLOADER, **options: Any
) -> str:
    """A person's token in plain text."""
    user, _ = User.objects.get_or_create(username=name, defaults={"role": role.value})
    return issue_token(user=user, name="test", scopes=scopes, **options)[1]


def machine_token(name: str = "node-1", *, registered: bool = True, scopes: tuple[Scope, ...] = (Scope.PUSH,)) -> str:
    """A machine's token in plain text."""
    machine, _ = Machine.objects.get_or_create(name=name, defaults={"registered": registered})
    return issue_token(machine=machine, name="test", scopes=scopes)[1]


def machine_caller(name: str = "node-1", **options: Any) -> Caller:
    """A caller for a machine."""
    return caller_of_plain(machine_token(name, **options))


def counts() -> dict[str, int]:
    """Rows of every table of the app."""
    return {model.__name__: model._base_manager.count() for model in apps.get_app_config("runs").get_models()}


def uuid7(number: int) -> UUID:
    """A fixed UUIDv7."""
    return UUID(f"01930000-0000-7000-8000-{number:012x}")
