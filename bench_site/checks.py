"""`make check`, `make i18n`, and the browser that the tests drive.

    python -m bench_site.checks all | i18n | browser

Every check runs, also after one has failed, so that one run tells everything.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PACKAGES = ("chromium", "fonts-noto-cjk")


def run(*command: str) -> bool:
    return subprocess.run([str(BIN / command[0]), *command[1:]], cwd=PROJECT, check=False).returncode == 0


def lint() -> bool:
    return run("ruff", "check", "--quiet", ".")


def layout() -> bool:
    return run("ruff", "format", "--quiet", "--diff", ".")


def types() -> bool:
    return run("mypy", "--no-error-summary")


def imports() -> bool:
    done = subprocess.run([BIN / "lint-imports", "--no-logo"], cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def templates() -> bool:
    files = [str(path) for path in sorted(PROJECT.glob("templates/**/*.html"))]
    return not files or run("djade", "--check", "--target-version", "5.2", *files)


def migrations() -> bool:
    """As `makemigrations --check`, but without asking a database for its history: none runs here."""
    from django.apps import apps
    from django.db.migrations.autodetector import MigrationAutodetector
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.state import ProjectState

    loader = MigrationLoader(None)
    if conflicts := loader.detect_conflicts():
        print(f"two migrations claim to be the last: {conflicts}")
        return False
    found = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps)).changes(graph=loader.graph)
    for app, missing in found.items():
        for migration in missing:
            steps = ", ".join(step.describe() for step in migration.operations)
            print(f"{app}: the models differ from the migrations: {steps}")
    return not found


def system() -> bool:
    from django.core.management import CommandError, call_command

    try:
        call_command("check", fail_level="WARNING")
    except CommandError as why:
        print(why)
        return False
    return True


def translations() -> bool:
    from bench_site.translations import problems

    told = problems()
    print("\n".join(told[:50]), end="\n" if told else "")
    return not told


CHECKS: dict[str, Callable[[], bool]] = {
    "ruff": lint,
    "ruff format": layout,
    "mypy": types,
    "import directions": imports,
    "templates (djade)": templates,
    "django check": system,
    "migrations": migrations,
    "translations": translations,
}


def check_all() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench_site.settings")
    django.setup()
    failed = []
    for name, check in CHECKS.items():
        began = time.monotonic()
        passed = check()
        print(f"check: {name:<20} {'ok' if passed else 'FAILED'}  {time.monotonic() - began:.1f} s", flush=True)
        if not passed:
            failed.append(name)
    if failed:
        print(f"check: failed: {', '.join(failed)}")
        print("ruff repairs much by itself: .venv/bin/ruff check --fix . && .venv/bin/ruff format .")
    return 1 if failed else 0


def has_chinese_font() -> bool:
    if not shutil.which("fc-list"):
        return False
    return bool(subprocess.run(["fc-list", ":lang=zh-cn"], capture_output=True, text=True, check=False).stdout.strip())


def browser() -> int:
    """Chromium and a Chinese font: installed as root on Debian and its relatives, else asked for, loudly."""
    from_environment = os.environ.get("FUSEBOARD_CHROMIUM")
    present = bool(from_environment or any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    if present and has_chinese_font():
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"set-up: installing {' and '.join(PACKAGES)} for the browser tests", flush=True)
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
            done = subprocess.run(
                ["apt-get", *arguments], env=quiet, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False
            )
            if done.returncode:
                break
        present = bool(shutil.which("chromium"))
    if present:
        return 0
    how = f"sudo apt-get install {' '.join(PACKAGES)}"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        print(f"CI runs every test, and there is no Chromium: {how}", file=sys.stderr)
        return 1
    print(f"\n!!! no Chromium: THE BROWSER TESTS WILL BE SKIPPED. To run them: {how}\n", file=sys.stderr)
    return 0


def i18n() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench_site.settings")
    django.setup()
    from bench_site.translations import po_files, update

    update()
    for path in po_files():
        run("pybabel", "-q", "compile", "--statistics", "-i", str(path), "-o", str(path.with_suffix(".mo")))
    return 0 if translations() else 1


def main(arguments: list[str]) -> int:
    verbs: dict[str, Callable[[], int]] = {"all": check_all, "i18n": i18n, "browser": browser}
    if len(arguments) != 1 or arguments[0] not in verbs:
        print(f"usage: python -m bench_site.checks {' | '.join(verbs)}", file=sys.stderr)
        return 2
    return verbs[arguments[0]]()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
