"""Loaded by pytest before Django reads its settings (`-p` in pyproject.toml): gives the test session a home of its own.

Whatever the environment of the person who runs the tests says, no test touches their data, database or broker.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

FOREIGN = (
    "DATABASE_URL", "CELERY_BROKER_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "DEBUG", "PORT", "TMPDIR",
    "DJANGO_SETTINGS_MODULE",
)  # fmt: skip

for name in [*os.environ]:
    foreign = name.removesuffix("_FILE") in FOREIGN or name.startswith("FUSEBOARD_")
    if foreign and name != "FUSEBOARD_CHROMIUM":
        del os.environ[name]

# Short, because a socket's path may have 107 bytes; in /tmp whatever TMPDIR says.
HOME = Path(tempfile.mkdtemp(prefix="fbt-", dir="/tmp"))
os.environ["FUSEBOARD_HOME"] = str(HOME)
# Playwright's synchronous interface runs an event loop in this thread, which Django takes for an async caller.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def remove_home(home: Path) -> None:
    """The home, and for root also its part of /var/lib/fuseboard."""
    from bench_site import embedded

    base = embedded.layout(home).base
    shutil.rmtree(embedded.layout(home).run, ignore_errors=True)
    shutil.rmtree(base, ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)


atexit.register(remove_home, HOME)
