"""Bearer tokens ``fb_<prefix>_<secret>``: the prefix finds the row, the HMAC digest proves the rest.

A token that was checked is remembered for ``REMEMBERED_SECONDS`` in each process, so that a run of pushes costs one
query and not one each. A revocation is therefore complete after that time: at once in the process that made it.
"""

import re
import secrets
import string
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from bench_site.runs.models import Machine, Run, Token, User
from bench_site.runs.models.words import Role, Scope

REMEMBERED_SECONDS = 5.0
REMEMBERED_TOKENS = 10_000
#: ``last_used_at`` is written at most this often, so that a push costs no write beside its own.
LAST_USED_EVERY = timedelta(minutes=1)
DEFAULT_LIFE = timedelta(days=90)

_PREFIX_LENGTH = 10
_SECRET_LENGTH = 40  # of 62 letters: 238 bits
_PREFIX = re.compile(rf"[a-z0-9]{{{_PREFIX_LENGTH}}}")
_SALT = "bench_site.fleet.tokens"

Reason = Literal["missing", "unknown", "expired", "revoked", "owner inactive"]

_SENTENCES: dict[Reason, str] = {
    "missing": "No token was sent; send the header `Authorization: Bearer fb_...`.",
    "unknown": "The site does not know this token; check that it was copied whole.",
    "expired": "The token has expired; make a new one under /account/.",
    "revoked": "The token was revoked; make a new one under /account/.",
    "owner inactive": "The token's owner may not sign in any more; ask an operator.",
}


class NotSignedIn(Exception):
    """No caller can be told from the request; ``reason`` says why, the text what to do."""

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason
        super().__init__(_SENTENCES[reason])


class MayNotIssue(ValueError):
    """The token asked for is one that its owner may not have; the text says why."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: a person (by session or token) or a machine (by token), and what they may do."""

    user: User | None
    machine: Machine | None
    token: Token | None
    scopes: frozenset[Scope]
    role: Role

    def may(self, scope: Scope) -> bool:
        """Whether the token has ``scope`` and its owner's role (still) allows it."""
        return scope in self.scopes and (scope is Scope.READ or _includes(self.role, Role.UPLOADER))

    def may_amend(self, run: Run) -> bool:
        """Whether this caller may amend or retract ``run``: its uploader, its pushing machine, any operator."""
        if _includes(self.role, Role.OPERATOR):
            return True
        if not _includes(self.role, Role.UPLOADER):
            return False
        if self.user is not None:
            return run.uploaded_by_id == self.user.pk
        return self.machine is not None and run.token is not None and run.token.machine_id == self.machine.pk

    @property
    def measures(self) -> bool:
        """Whether raw files from this caller are measured unless they say else."""
        return (self.token is not None and self.token.measures) or (
            self.machine is not None and self.machine.registered
        )

    def name(self) -> str:
        """The person's username or ``machine NAME``."""
        if self.user is not None:
            return self.user.get_username()
        return f"machine {self.machine.name}" if self.machine is not None else ""


def _includes(role: Role, least: Role) -> bool:
    order = list(Role)
    return order.index(role) >= order.index(least)


def issue_token(
    *,
    user: User | None = None,
    machine: Machine | None = None,
    name: str,
    scopes: Iterable[Scope],
    expires_in: timedelta | None = DEFAULT_LIFE,
    measures: bool = False,
) -> tuple[Token, str]:
    """A new token of exactly one owner, and its plain text, which is kept nowhere: show it once.

    Raises MayNotIssue if the owner's role does not allow the scopes, or if there is nothing to allow.
    """
    wanted = [scope for scope in Scope if scope in set(scopes)]
    if (user is None) == (machine is None):
        raise MayNotIssue(_("A token belongs to one person or to one machine."))
    if not wanted:
        raise MayNotIssue(_("A token needs at least one scope."))
    if not name.strip():
        raise MayNotIssue(_("A token needs a name, so that you know later which one to revoke."))
    if expires_in is not None and expires_in <= timedelta(0):
        raise MayNotIssue(_("A token must expire in the future."))
    if user is not None and not set(wanted) <= set(allowed_scopes(user)):
        raise MayNotIssue(_("Readers may have tokens with the scope read only; ask an operator for the role uploader."))
    prefix = _letters(string.ascii_lowercase + string.digits, _PREFIX_LENGTH)
    plain = f"fb_{prefix}_{_letters(string.ascii_letters + string.digits, _SECRET_LENGTH)}"
    token = Token.objects.create(
        prefix=prefix,
        digest=_digest(plain, settings.SECRET_KEY),
        name=name.strip()[:100],
        user=user,
        machine=machine,
        scopes=[scope.value for scope in wanted],
        measures=measures,
        expires_at=timezone.now() + expires_in if expires_in is not None else None,
    )
    return token, plain


def allowed_scopes(user: User) -> list[Scope]:
    """The scopes that this person's tokens may have."""
    return list(Scope) if user.may(Role.UPLOADER) else [Scope.READ]


def tokens_of(user: User) -> QuerySet[Token]:
    """A person's tokens, newest first; revoked ones too, so that the list answers "which was that?"."""
    return Token.objects.filter(user=user).order_by("-created_at")


def revocable_by(user: User) -> QuerySet[Token]:
    """The tokens that this person may revoke: their own; an operator those of machines; an administrator all."""
    if user.may(Role.ADMIN):
        return Token.objects.all()
    if user.may(Role.OPERATOR):
        return Token.objects.filter(Q(user=user) | Q(machine__isnull=False))
    return Token.objects.filter(user=user)


def revoke_token(token: Token) -> None:
    """End ``token`` now; a second call changes nothing."""
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])


def caller_of(request: HttpRequest) -> Caller:
    """The caller that the ``Authorization`` header names; raises NotSignedIn. Asked twice, it looks once."""
    known: Caller | None = getattr(request, "_fuseboard_caller", None)
    if known is None:
        known = caller_of_header(request.headers.get("Authorization", ""))
        request._fuseboard_caller = known  # type: ignore[attr-defined]
    return known


def caller_of_header(header: str) -> Caller:
    """The caller of ``Bearer fb_...``; raises NotSignedIn. One query, or none if checked a moment ago."""
    scheme, _, plain = header.strip().partition(" ")
    plain = plain.strip()
    if scheme.lower() != "bearer" or not plain:
        raise NotSignedIn("missing")
    return caller_of_plain(plain)


def caller_of_plain(plain: str) -> Caller:
    """The caller of a token's plain text; raises NotSignedIn."""
    token = _remembered.get(plain) or _find(plain)
    now = timezone.now()
    if token.revoked_at is not None:
        raise NotSignedIn("revoked")
    if token.expires_at is not None and token.expires_at <= now:
        raise NotSignedIn("expired")
    if token.user is not None and not token.user.is_active:
        raise NotSignedIn("owner inactive")
    _note_use(token, now)
    return Caller(
        user=token.user,
        machine=token.machine,
        token=token,
        scopes=frozenset(Scope(word) for word in token.scopes),
        role=Role(token.user.role) if token.user is not None else Role.UPLOADER,
    )


def caller_of_user(user: User) -> Caller:
    """A signed-in person as a caller, for what pages do through the same verbs as the API."""
    return Caller(user=user, machine=None, token=None, scopes=frozenset(Scope), role=Role(user.role))


def _find(plain: str) -> Token:
    parts = plain.split("_", 2)
    if len(parts) != 3 or parts[0] != "fb" or not _PREFIX.fullmatch(parts[1]):
        raise NotSignedIn("unknown")
    token = Token.objects.select_related("user", "machine").filter(prefix=parts[1]).first()
    # Older keys too: replacing the secret key must not end every token.
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if token is None or not any(constant_time_compare(token.digest, _digest(plain, key)) for key in keys):
        raise NotSignedIn("unknown")
    _remembered.put(plain, token)
    return token


def _digest(plain: str, key: str | bytes) -> str:
    return salted_hmac(_SALT, plain, secret=key, algorithm="sha256").hexdigest()


def _letters(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def _note_use(token: Token, now: datetime) -> None:
    due = now - LAST_USED_EVERY
    if token.last_used_at is not None and token.last_used_at > due:
        return
    # Noted on the remembered object first, so that other threads of this process do not write it as well.
    token.last_used_at = now
    Token.objects.filter(Q(last_used_at__isnull=True) | Q(last_used_at__lte=due), pk=token.pk).update(last_used_at=now)


class _Remembered:
    """Tokens that were checked within the last seconds, by the digest of their plain text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[float, Token]] = {}

    def get(self, plain: str) -> Token | None:
        found = self._tokens.get(self._key(plain))
        return found[1] if found and time.monotonic() - found[0] < REMEMBERED_SECONDS else None

    def put(self, plain: str, token: Token) -> None:
        with self._lock:
            if len(self._tokens) >= REMEMBERED_TOKENS:
                self._tokens.clear()
            self._tokens[self._key(plain)] = (time.monotonic(), token)

    def forget(self, sender: object = None, **kwargs: Any) -> None:
        """Whenever a token, a person or a machine is saved or deleted in this process: all of them, it is rare."""
        with self._lock:
            self._tokens.clear()

    @staticmethod
    def _key(plain: str) -> str:
        # Not the plain text itself: a memory dump of a web worker should hold as few of them as possible.
        return _digest(plain, settings.SECRET_KEY)


_remembered = _Remembered()
for _model in (Token, User, Machine):
    post_save.connect(_remembered.forget, sender=_model, dispatch_uid=f"fleet.tokens.save.{_model.__name__}")
    post_delete.connect(_remembered.forget, sender=_model, dispatch_uid=f"fleet.tokens.delete.{_model.__name__}")
