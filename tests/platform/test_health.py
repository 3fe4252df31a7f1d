"""/readyz tells which part of the site is not ready."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from bench_site import health
from bench_site.runs.models import Heartbeat


def test_healthz_needs_no_database(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_ready_when_a_worker_was_heard_from(client: Client) -> None:
    Heartbeat.objects.create(name="worker", at=timezone.now())
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"ready": True, "database": "ok", "migrations": "ok", "worker": "ok"},
    )


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "told"), [(None, "never heard from"), (61, "silent for 61 s")])
def test_not_ready_without_a_worker(client: Client, age: int | None, told: str) -> None:
    if age:
        Heartbeat.objects.create(name="worker", at=timezone.now() - timedelta(seconds=age))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"].startswith(told)


@pytest.mark.django_db
def test_not_ready_while_a_migration_waits(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", False)
    monkeypatch.setattr("django.db.migrations.executor.MigrationExecutor.migration_plan", lambda *_: [("x", False)])
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["migrations"] == "1 not applied: run manage.py migrate"


def test_not_ready_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> str:
        raise OperationalError("connection refused\nsecond line")

    monkeypatch.setattr(health, "_migrations", away)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        503,
        {"ready": False, "database": "does not answer: connection refused"},
    )


@pytest.mark.parametrize(
    ("path", "kind"), [("/api/v1/runs", "application/problem+json"), ("/compare/", "text/plain; charset=utf-8")]
)
def test_a_database_that_is_away_is_a_503_that_may_be_retried(path: str, kind: str) -> None:
    def unused(request: HttpRequest) -> HttpResponse:
        raise AssertionError

    middleware = health.DatabaseAwayMiddleware(unused)
    answer = middleware.process_exception(RequestFactory().get(path), OperationalError("server closed the connection"))
    assert answer is not None
    assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (503, kind, "5")
    assert middleware.process_exception(RequestFactory().get(path), ValueError("a fault of ours")) is None
