"""People: the first operator, invitations, roles, the demo's account. Every change of an account is a verb here."""

import os
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from bench_site.fleet import links
from bench_site.fleet.tokens import NotSignedIn, caller_of_plain, issue_token
from bench_site.runs.models import User
from bench_site.runs.models.words import Role, Scope

DEMO_USER = "demo"
DEMO_TOKEN_LIFE = timedelta(days=7)
#: Less than this is no use to somebody who starts the demo now.
DEMO_TOKEN_LEAST = timedelta(days=1)
SYSTEM_USER = "fuseboard"


class NotAllowed(ValueError):
    """The change would break a rule of this site; the text says which."""


def operators_exist() -> bool:
    """Whether anybody can run the site: an active operator or administrator with a password."""
    able = User.objects.filter(role__in=[Role.OPERATOR.value, Role.ADMIN.value], is_active=True)
    return any(user.has_usable_password() for user in able)


def first_operator_link() -> str | None:
    """A one-time path to make the first operator's account, valid 24 h; None once an operator exists."""
    return None if operators_exist() else links.setup_path()


def check_setup(code: str) -> None:
    """Raises DeadLink unless a setup link would still make the first operator."""
    links.check_setup(code)
    if operators_exist():
        raise links.DeadLink(_("This site has an operator already. Sign in, or ask them for an invitation."))


@transaction.atomic
def make_first_operator(*, code: str, username: str, password: str, email: str = "") -> User:
    """The account that a setup link makes: an administrator. Raises DeadLink or ValidationError (password)."""
    with connection.cursor() as cursor:
        # Two people with the same link: the second waits here, and then finds that an operator exists.
        cursor.execute("LOCK TABLE runs_user IN SHARE ROW EXCLUSIVE MODE")
    check_setup(code)
    return create_operator(username=username, password=password, email=email, role=Role.ADMIN)


@transaction.atomic
def create_operator(*, username: str, password: str | None, email: str = "", role: Role = Role.OPERATOR) -> User:
    """An operator or administrator; without a password they get one by ``links.invitation_path``."""
    if username.casefold() in (SYSTEM_USER, DEMO_USER):
        raise ValidationError(_("This name belongs to the site itself; choose another."))
    user = User(username=username, email=email, role=role.value)
    if password is not None:
        validate_password(password, user)
        user.set_password(password)
    else:
        user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    return user


@transaction.atomic
def invite(*, by: User, username: str, role: Role, email: str = "") -> tuple[User, str]:
    """A new person and the path of their one-time link. Nobody invites above their own role."""
    if not by.may(Role.OPERATOR):
        raise NotAllowed(_("Only operators invite people."))
    if not by.may(role):
        raise NotAllowed(_("Only administrators make administrators."))
    user = create_operator(username=username, password=None, email=email, role=role)
    return user, links.invitation_path(user)


@transaction.atomic
def renew_link(*, by: User, user: User) -> str:
    """A new one-time link for somebody who lost theirs or their password, which both end now."""
    _check_may_change(by, user)
    user.set_unusable_password()
    user.save(update_fields=["password"])
    return links.invitation_path(user)


@transaction.atomic
def accept_invitation(*, code: str, password: str) -> User:
    """Set the invited person's password. Raises DeadLink or ValidationError."""
    user = User.objects.select_for_update().get(pk=links.invited(code).pk)
    links.invited(code)  # once more under the lock: of two that click at the same time one wins
    return change_password(user=user, password=password)


def change_password(*, user: User, password: str) -> User:
    """A new password; raises ValidationError if it is too weak."""
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


@transaction.atomic
def set_role(*, by: User, user: User, role: Role) -> User:
    """Give ``user`` another role; tokens follow at once. The last administrator stays one."""
    if not by.may(Role.ADMIN):
        raise NotAllowed(_("Only administrators change roles."))
    _check_not_the_site(user)
    user = _locked(user)
    if user.role == Role.ADMIN and role is not Role.ADMIN:
        _check_other_admin(user)
    user.role = role.value
    user.save()
    return user


@transaction.atomic
def set_active(*, by: User, user: User, active: bool) -> User:
    """Let ``user`` sign in or no longer; their tokens and sessions stop with it, their runs stay."""
    user = _locked(user)
    _check_may_change(by, user)
    if not active:
        if user.pk == by.pk:
            raise NotAllowed(_("You cannot close your own account; ask another operator."))
        if user.role == Role.ADMIN:
            _check_other_admin(user)
    user.is_active = active
    user.save()
    return user


def _locked(user: User) -> User:
    # All administrators, in order: two of them demoting each other at the same time must not both succeed.
    list(User.objects.select_for_update().filter(role=Role.ADMIN.value).order_by("pk"))
    return User.objects.select_for_update().get(pk=user.pk)


def _check_other_admin(user: User) -> None:
    others = User.objects.filter(role=Role.ADMIN.value, is_active=True).exclude(pk=user.pk)
    if not any(other.has_usable_password() for other in others):
        raise NotAllowed(_("This is the last administrator; make another one first."))


def _check_may_change(by: User, user: User) -> None:
    if not by.may(Role.OPERATOR) or not by.may(Role(user.role)):
        raise NotAllowed(_("Only somebody of the same role or above may change this account."))
    _check_not_the_site(user)


def _check_not_the_site(user: User) -> None:
    if user.username == SYSTEM_USER:
        raise NotAllowed(_("This account belongs to the site itself."))


def system_user() -> User:
    """Who uploads what the site brings along (the public claims): nobody can sign in as them."""
    return _account_of_the_site(SYSTEM_USER, active=False)


def demo_token(path: Path) -> str:
    """The demo's push token, written to ``path`` (0600); the one that is there while it has a day to go."""
    if path.is_file():
        plain = path.read_text(encoding="utf-8").strip()
        if _still_good(plain):
            path.chmod(0o600)
            return plain
    user = _account_of_the_site(DEMO_USER, active=True)
    _token, plain = issue_token(user=user, name="demo", scopes=[Scope.PUSH], expires_in=DEMO_TOKEN_LIFE, measures=True)
    _write_private(path, plain + "\n")
    return plain


def _still_good(plain: str) -> bool:
    try:
        caller = caller_of_plain(plain)
    except NotSignedIn:
        return False
    expires = caller.token.expires_at if caller.token else None
    return caller.may(Scope.PUSH) and (expires is None or expires - timezone.now() > DEMO_TOKEN_LEAST)


def _account_of_the_site(username: str, *, active: bool) -> User:
    user = User.objects.filter(username=username).first()
    if user is None:
        user = User(username=username, role=Role.UPLOADER.value, is_active=active)
        user.set_unusable_password()
        user.save()
    return user


def _write_private(path: Path, text: str) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
