"""Machines that the site trusts to measure."""

from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from bench_site.fleet.accounts import NotAllowed
from bench_site.fleet.tokens import issue_token
from bench_site.runs.models import Machine, Token, User
from bench_site.runs.models.words import Role, Scope


@transaction.atomic
def token_for_machine(
    *,
    by: User,
    machine: Machine | str,
    name: str,
    scopes: list[Scope],
    expires_in: timedelta | None,
    measures: bool = False,
) -> tuple[Token, str]:
    """A token of ``machine`` (or of a new one of that name) and its plain text; the machine is registered with it."""
    if not by.may(Role.OPERATOR):
        raise NotAllowed(_("Only operators register machines."))
    if isinstance(machine, str):
        machine, _made = Machine.objects.get_or_create(name=machine.strip())
    if not machine.registered:
        machine.registered = True
        machine.save(update_fields=["registered"])
    return issue_token(machine=machine, name=name, scopes=scopes, expires_in=expires_in, measures=measures)
