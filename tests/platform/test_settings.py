"""What the settings promise: headers, queues, folders."""

from pathlib import Path

import pytest
from celery.exceptions import QueueNotFound
from django.conf import settings
from django.db import transaction
from django.test import Client

from bench_site.broker import empty_broker
from bench_site.celery import HintTask, app

CSP = {
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
}


def test_every_answer_carries_the_content_security_policy(client: Client) -> None:
    told = client.get("/healthz").headers["Content-Security-Policy"]
    assert {part.strip() for part in told.split(";")} == CSP
    assert "unsafe-eval" not in told


def test_browsers_are_told_not_to_guess_frame_or_leak(client: Client) -> None:
    headers = client.get("/healthz").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_another_host_name_is_refused(client: Client) -> None:
    assert client.get("/healthz", headers={"host": "evil.example"}).status_code == 400


def test_a_browser_that_asks_for_favicon_ico_finds_one(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"].endswith(".svg")


def test_a_misspelt_queue_is_refused_at_the_sender() -> None:
    with pytest.raises(QueueNotFound):
        app.send_task("aggregate.sweep", queue="defualt")


def test_a_message_reaches_its_own_queue_alone(settings_folders: Path) -> None:
    empty_broker(settings_folders)
    app.send_task("aggregate.sweep", queue="imports")
    assert [file.name.split(".")[1] for file in (settings_folders / "broker" / "messages").iterdir()] == ["imports"]
    empty_broker(settings_folders)


@pytest.fixture
def settings_folders() -> Path:
    return Path(settings.FUSEBOARD_HOME)


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_does_not_fail_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **kwargs: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(HintTask, "delay", away)
    app.loader.import_default_modules()
    with transaction.atomic():
        app.tasks["aggregate.sweep"].delay_on_commit()


def test_every_scheduled_task_exists_and_does_not_pile_up() -> None:
    app.loader.import_default_modules()
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] <= 2 * entry["schedule"] + 10


def test_an_empty_broker_is_empty_whatever_was_in_it(tmp_path: Path) -> None:
    empty_broker(tmp_path)
    for name in ("messages", "control", "processed"):
        (tmp_path / "broker" / name / "cut.exchange").write_bytes(b'[["')
    empty_broker(tmp_path)
    assert sorted(path.name for path in (tmp_path / "broker").rglob("*")) == ["control", "messages", "processed"]
