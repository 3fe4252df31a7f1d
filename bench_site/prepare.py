"""What `up.py` does to the database before the site starts, in one short-lived process.

Prints, as its last line, a JSON object of what the supervisor should tell: a link for the first operator, and in the
demo the file that holds a token. Running it again changes nothing.
"""

import json
import sys
import time
from pathlib import Path

import django


def main(arguments: list[str]) -> int:
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import OperationalError, connection

    import bench_site.celery  # noqa: F401  the seed stores runs, which sends messages

    waited = time.monotonic()
    while True:  # a server of our own is ready by now; one that DATABASE_URL names may still be starting
        try:
            connection.ensure_connection()
            break
        except OperationalError as why:
            if time.monotonic() - waited > 60:
                print(f"the database does not answer: {why}", file=sys.stderr)
                return 1
            time.sleep(1)
    call_command("migrate", interactive=False, verbosity=0)
    made: dict[str, str] = {}
    demo = "--demo" in arguments
    call_command("seed", *(["--demo"] if demo else []), verbosity=0, stdout=sys.stderr)
    _accounts(made, Path(settings.FUSEBOARD_HOME), demo)
    print(json.dumps(made))
    return 0


def _accounts(made: dict[str, str], home: Path, demo: bool) -> None:
    from bench_site.fleet.accounts import demo_token, first_operator_link

    if link := first_operator_link():
        made["operator_link"] = link
    if demo:
        token = home / "demo.token"
        demo_token(token)
        made["demo_token"] = str(token)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
