"""``manage.py map_model UNKNOWN KNOWN``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bench_site.runs.catalogue.names import NoSuchEntry, find_model
from bench_site.runs.remap import CannotMap, map_model


class Command(BaseCommand):
    help = (
        "Say that a model which uploads named is one of the catalogue: the name becomes an alias, results under it are "
        "re-keyed and merged. Either is given by any of its names."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("unknown")
        parser.add_argument("known")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = map_model(unknown=find_model(options["unknown"]), known=find_model(options["known"]))
        except (NoSuchEntry, CannotMap) as why:
            raise CommandError(str(why)) from why
        self.stdout.write(str(done))
