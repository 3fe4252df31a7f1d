"""A fake site, an outbox in a temporary folder, and the command run in this process."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from runners.client import Client
from runners.retry import Patience
from runners.spool import Outbox
from tests.runners.fakesite import TOKEN, FakeSite
from tests.runners.tools import QUICK


@pytest.fixture
def site() -> Iterator[FakeSite]:
    made = FakeSite().start()
    yield made
    made.stop()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No configuration and an empty outbox."""
    for name in [name for name in os.environ if name.startswith(("FUSEBOARD_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("FUSEBOARD_OUTBOX", str(tmp_path / "outbox"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path


@pytest.fixture
def signed_in(home: Path, site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    monkeypatch.setenv("FUSEBOARD_URL", site.url)
    monkeypatch.setenv("FUSEBOARD_TOKEN", TOKEN)
    monkeypatch.setattr("runners.commands.round_trip.Patience", lambda total: Patience(0.01, 2.0, 0.02, total))
    return site


@pytest.fixture
def client(site: FakeSite) -> Iterator[Client]:
    with Client(site.url, TOKEN, patience=QUICK, sleep=lambda seconds: None) as made:
        yield made


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path / "outbox")


@pytest.fixture
def run() -> Callable[..., Result]:
    """The command in this process."""
    from runners.cli import app

    def invoke(*arguments: str, given: bytes | str | None = None) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=given)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke
