"""``manage.py seed``: the catalogue, prices and exchange rates; with ``--demo`` the public claims too."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from bench_site.fleet.claims import seed_claims
from bench_site.runs.seed import seed_catalogue


class Command(BaseCommand):
    help = (
        "Insert what is missing of the catalogue. Nothing that is stored is changed: where the catalogue says "
        "something else, a line says so and an operator decides. Twice is harmless."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--demo", action="store_true", help="the public claims too")

    def handle(self, *args: Any, **options: Any) -> None:
        done = [seed_catalogue(), *([seed_claims()] if options["demo"] else [])]
        for part in done:
            self.stdout.write(part.words())
            for line in part.differs if options["verbosity"] > 0 else []:
                self.stdout.write(f"  {line}")
