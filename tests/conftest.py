"""Fixtures for every test: one embedded PostgreSQL a session, the live site, the browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_site import embedded
from tests.platform.live import LiveSite
from tests.platform.plugin import HOME

IN_CI = os.environ.get("CI", "").lower() in ("1", "true")
# Data of a test session need not survive a power cut; without these it runs about twice as long.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
NO_BROWSER = (
    "no Chromium on this machine: BROWSER TESTS ARE SKIPPED. Install it: sudo apt-get install chromium fonts-noto-cjk"
)


def pytest_configure(config: pytest.Config) -> None:
    from django.conf import settings

    import bench_site.celery  # noqa: F401  shared tasks must know our application, as in the site's own processes
    from bench_site.broker import empty_broker

    # Tests must not depend on a collectstatic that is older than the file under test.
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, and no secret is real here
    empty_broker(HOME)


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[embedded.EmbeddedPostgres]:
    server = embedded.EmbeddedPostgres(HOME, overrides=FAST)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(embedded_server: embedded.EmbeddedPostgres) -> None:
    """pytest-django asks for this before it makes the test database: by then the server must run."""


@pytest.fixture(scope="session")
def live_site() -> Iterator[LiveSite]:
    """The site as `make up` runs it. Its data stay for the whole session: use names of your own."""
    site = LiveSite()
    try:
        yield site.start()
    finally:
        site.remove()


# ------------------------------------------------------------------------------------------------ browser


def chromium() -> str | None:
    named = os.environ.get("FUSEBOARD_CHROMIUM")
    if named:
        return named
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks from fixtures; and without a browser one loud skip for all its tests, which in CI is an error instead."""
    wants_browser = []
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "live_site" in names:
            item.add_marker("live")
        if "browser" in names:
            item.add_marker("browser")
            wants_browser.append(item)
    if wants_browser and chromium() is None:
        if IN_CI:
            raise pytest.UsageError(
                "CI runs every test, and there is no Chromium: apt-get install chromium fonts-noto-cjk"
            )
        config.stash[SKIPPED] = len(wants_browser)
        for item in wants_browser:
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))


SKIPPED = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if number := config.stash.get(SKIPPED, 0):
        terminalreporter.write_sep("!", f"{number} browser tests were skipped", red=True, bold=True)
        terminalreporter.write_line(NO_BROWSER, red=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A Playwright browser: one Chromium for the session."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--disable-quic", "--disable-background-networking"],
        )
        yield chrome
        chrome.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page in a fresh profile. A console error, a script error or a CSP report fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = context.new_page()
    problems: list[str] = []
    tab.on("console", lambda message: problems.append(f"console: {message.text}") if message.type == "error" else None)
    tab.on("pageerror", lambda error: problems.append(f"script: {error}"))
    yield tab
    context.close()
    assert not problems, problems


@pytest.fixture
def project() -> Path:
    """The repository's top folder."""
    return Path(__file__).resolve().parents[1]
