"""The database in trouble: 503 with Retry-After, nothing half done; a broker in trouble: nobody notices."""

import json
import logging
import time

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from bench_site.fleet import tokens
from bench_site.ingest import accept, attempts, hurry
from bench_site.ingest.accept import accept_batch, accept_report
from bench_site.runs.models import Run
from runners.contract.problems import Problem
from tests.ingest.making import counts, document, person, report, token_of


class Passing(Exception):
    """What psycopg raises, with its SQLSTATE."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("the server said so")
        self.sqlstate = sqlstate


def failing(kind: type[Exception], sqlstate: str | None, times: int):
    """A stand-in for mark_stale that fails so many times, then does its work."""
    real, left = accept.mark_stale, [times]

    def stand_in(series) -> None:
        if left[0]:
            left[0] -= 1
            raise kind("could not serialize") from Passing(sqlstate)
        real(series)

    return stand_in


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", sorted(attempts.PASSING))
def test_what_passes_is_tried_again(sqlstate: str, monkeypatch) -> None:
    kind = IntegrityError if sqlstate.startswith("23") else OperationalError
    monkeypatch.setattr(accept, "mark_stale", failing(kind, sqlstate, 2))
    assert accept_report(report=report(), by=person()).outcome == "stored"
    assert Run.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", ["40P01", None])
def test_what_does_not_pass_is_503_and_stores_nothing(sqlstate, monkeypatch, client) -> None:
    token = token_of()
    monkeypatch.setattr(accept, "mark_stale", failing(OperationalError, sqlstate, 99))
    before = counts()
    response = client.post(
        "/api/v1/runs", json.dumps(document()), "application/json", HTTP_AUTHORIZATION=f"Bearer {token}"
    )
    assert response.status_code == 503 and response.headers["Retry-After"] == "5"
    assert Problem.model_validate_json(response.content).code == "busy"
    assert counts() == before


@pytest.mark.django_db
def test_an_error_of_ours_is_a_problem_document_and_logged(monkeypatch, client, caplog) -> None:
    token = token_of()
    monkeypatch.setattr(accept, "mark_stale", failing(RuntimeError, None, 1))
    with caplog.at_level(logging.ERROR):
        response = client.post(
            "/api/v1/runs", json.dumps(document()), "application/json", HTTP_AUTHORIZATION=f"Bearer {token}"
        )
    assert response.status_code == 500
    assert Problem.model_validate_json(response.content).code == "internal"
    assert "serialize" not in response.content.decode() and "could not serialize" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_costs_no_time_and_no_run(monkeypatch, caplog) -> None:
    def away(*args: object, **kwargs: object) -> None:
        time.sleep(0.5)
        raise OSError("connection refused")

    from bench_site.celery import app

    monkeypatch.setattr(app, "send_task", away)
    by = person()
    accept_report(report=report(), by=by)
    began = time.monotonic()
    for _ in range(5):
        assert accept_report(report=report(), by=by).outcome == "stored"
    assert time.monotonic() - began < 2
    with caplog.at_level(logging.WARNING):
        hurry.send("aggregate.sweep", (), "default")
    assert "the sweep will find the work" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_messages_are_folded_and_sent_after_the_commit(monkeypatch) -> None:
    sent: list[tuple] = []
    monkeypatch.setattr(hurry, "send", lambda *message: sent.append(message))
    monkeypatch.setattr(hurry, "PAUSE", 0.05)
    monkeypatch.setattr(hurry, "_sender", hurry._Sender())
    with transaction.atomic():
        for _ in range(100):
            hurry.hurry("aggregate.sweep")
        time.sleep(0.1)
        assert sent == []
    time.sleep(0.3)
    assert 1 <= len(sent) <= 5 and sent[0] == ("aggregate.sweep", (), "default")


@pytest.mark.django_db
@pytest.mark.parametrize(("size", "most"), [(1, 10), (100, 10)])
def test_queries_of_an_upload_whose_configuration_is_known(size: int, most: int, django_assert_max_num_queries) -> None:
    by = person()
    accept_report(report=report(), by=by)
    reports = [report() for _ in range(size)]
    with django_assert_max_num_queries(most):
        accept_batch(reports=reports, by=by)
    assert connection.in_atomic_block


@pytest.mark.django_db
def test_a_database_that_goes_away_before_the_token_is_known(client, monkeypatch) -> None:
    token = token_of()
    tokens._remembered.forget()

    def away(plain: str) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tokens, "_find", away)
    client.raise_request_exception = False
    response = client.post(
        "/api/v1/runs", json.dumps(document()), "application/json", HTTP_AUTHORIZATION=f"Bearer {token}"
    )
    assert response.status_code == 503 and response.headers["Retry-After"]
    assert response.headers["Content-Type"] == "application/problem+json"
