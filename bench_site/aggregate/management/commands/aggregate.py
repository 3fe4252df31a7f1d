"""``manage.py aggregate``: bring the statistics up to date, or check them against the points."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bench_site.aggregate.check import check
from bench_site.aggregate.sweep import mark_all, sweep

#: More differences than this are counted, not printed.
PRINTED = 200


class Command(BaseCommand):
    help = (
        "Computes the statistics of all series that runs were written to since (what the worker does every 30 s). "
        "Exit status 1 with --check when anything waits or differs."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="compute every series anew, not only the stale ones")
        parser.add_argument(
            "--check",
            action="store_true",
            help="compute everything in memory and print what differs from what is stored (with --all: afterwards)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["all"]:
            self.stdout.write(f"{mark_all()} series marked")
        if options["all"] or not options["check"]:
            self._sweep()
        if options["check"]:
            self._check()

    def _sweep(self) -> None:
        done = 0
        while now := sweep():
            done += now
        self.stdout.write(f"{done} series brought up to date")

    def _check(self) -> None:
        findings = check()
        for words in findings.differences[:PRINTED]:
            self.stdout.write(words)
        if len(findings.differences) > PRINTED:
            self.stdout.write(f"... and {len(findings.differences) - PRINTED} more")
        self.stdout.write(
            f"{findings.series} series, {findings.groups} groups compared, {findings.stale} series stale, "
            f"{len(findings.differences)} differences"
        )
        if not findings.clean:
            raise CommandError(
                "not clean: `manage.py aggregate` works off stale series, `aggregate --all` repairs differences"
            )
