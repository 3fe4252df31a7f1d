"""``manage.py createoperator``: an operator or administrator, by questions or by options."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from bench_site.fleet.accounts import create_operator
from bench_site.fleet.links import invitation_path
from bench_site.runs.models.words import Role


class Command(BaseCommand):
    help = (
        "Make an account that may run the site. Asks for what is not given; with --link it asks for no password and "
        "prints a one-time link (7 days) under which the person sets one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username")
        parser.add_argument("--email", default="")
        parser.add_argument("--role", choices=[Role.OPERATOR.value, Role.ADMIN.value], default=Role.ADMIN.value)
        parser.add_argument(
            "--link", action="store_true", help="print a one-time link instead of asking for a password"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            username = options["username"] or input("Username: ").strip()
            password = None if options["link"] else self._password()
            user = create_operator(
                username=username, password=password, email=options["email"], role=Role(options["role"])
            )
        except ValidationError as why:
            raise CommandError("\n".join(why.messages)) from why
        except EOFError as why:
            raise CommandError("Nobody is there to answer; give --username NAME --link.") from why
        self.stdout.write(f"{user.get_role_display()} {user.username} was made.")
        if password is None:
            self.stdout.write(f"Set the password, once and within 7 days, under this path of the site:\n"
                              f"{invitation_path(user)}")  # fmt: skip

    def _password(self) -> str:
        first = getpass.getpass("Password: ")
        if first != getpass.getpass("Password once more: "):
            raise CommandError("The two passwords differ.")
        return first
