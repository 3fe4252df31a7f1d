"""``manage.py demotoken --path FILE``: the demo's push token; twice is harmless."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from bench_site.fleet.accounts import demo_token


class Command(BaseCommand):
    help = "Write a push-only token of 7 days to FILE (0600); keep the one that is there while it is good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--path", type=Path, default=Path(settings.FUSEBOARD_HOME) / "demo.token")

    def handle(self, *args: Any, **options: Any) -> None:
        demo_token(options["path"])
        self.stdout.write(str(options["path"]))
