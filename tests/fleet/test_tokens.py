"""A token is shown once, kept as a digest, and worth exactly what its owner's role and its scopes allow."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import RequestFactory
from django.utils import timezone

from bench_site.fleet import tokens
from bench_site.fleet.tokens import (
    Caller,
    MayNotIssue,
    NotSignedIn,
    caller_of,
    caller_of_plain,
    issue_token,
    revoke_token,
)
from bench_site.runs.models import Machine, Run, Token, User
from bench_site.runs.models.words import Role, Scope

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    tokens._remembered.forget()
    yield
    tokens._remembered.forget()


def person(role: Role = Role.UPLOADER, name: str = "ann") -> User:
    return User.objects.create_user(name, role=role.value)


def token(user: User | None = None, **changes: Any) -> tuple[Token, str]:
    given: dict[str, Any] = {"name": "t", "scopes": [Scope.PUSH]}
    return issue_token(user=user or person(), **(given | changes))


def refused(plain: str) -> NotSignedIn:
    with pytest.raises(NotSignedIn) as caught:
        caller_of_plain(plain)
    return caught.value


def test_the_text_is_not_stored() -> None:
    made, plain = token()
    kept = Token.objects.values().get(pk=made.pk)
    secret = plain.split("_", 2)[2]
    assert plain == f"fb_{made.prefix}_{secret}" and len(secret) == 40
    assert secret not in str(kept) and len(kept["digest"]) == 64


def test_a_caller_is_who_the_token_belongs_to() -> None:
    user = person()
    _made, plain = token(user, scopes=[Scope.PUSH, Scope.READ], measures=True)
    request = RequestFactory().get("/", headers={"Authorization": f"Bearer {plain}"})
    caller = caller_of(request)
    assert caller.user == user and caller.machine is None and caller.name() == "ann" and caller.measures
    assert caller.scopes == {Scope.PUSH, Scope.READ}
    assert (caller.may(Scope.PUSH), caller.may(Scope.READ), caller.may(Scope.AGENT)) == (True, True, False)


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic YTpi", "Token fb_x"])
def test_no_bearer_token_is_missing(header: str) -> None:
    with pytest.raises(NotSignedIn) as caught:
        caller_of(RequestFactory().get("/", headers={"Authorization": header} if header else {}))
    assert caught.value.reason == "missing"


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda plain: plain[:-1],
        lambda plain: plain[:-1] + ("a" if plain[-1] != "a" else "b"),
        lambda plain: plain.upper(),
        lambda plain: plain.replace("fb_", "gh_"),
        lambda plain: "fb_0000000000_" + plain.split("_", 2)[2],
        lambda plain: plain + "\x00",
        lambda plain: "fb_\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00_x",
        lambda plain: "fb__",
        lambda plain: "é" * 5000,
    ],
)
def test_anything_but_the_whole_text_is_unknown(spoilt: Any) -> None:
    _made, plain = token()
    assert refused(spoilt(plain)).reason == "unknown"


def test_expired_revoked_and_closed_owners_are_told_apart() -> None:
    user = person()
    expired, expired_plain = token(user)
    Token.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked, revoked_plain = token(user)
    revoke_token(revoked)
    _made, plain = token(user)
    assert refused(expired_plain).reason == "expired"
    assert refused(revoked_plain).reason == "revoked"
    assert caller_of_plain(plain).user == user
    user.is_active = False
    user.save()
    assert refused(plain).reason == "owner inactive"


def test_a_remembered_token_still_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    _made, plain = token(expires_in=timedelta(hours=1))
    caller_of_plain(plain)
    later = timezone.now() + timedelta(hours=2)
    monkeypatch.setattr(tokens.timezone, "now", lambda: later)
    assert refused(plain).reason == "expired"


def test_a_check_costs_one_query_and_the_next_none(django_assert_num_queries: Any) -> None:
    _made, plain = token()
    with django_assert_num_queries(2):  # the token with its owner; when it was last used
        caller_of_plain(plain)
    with django_assert_num_queries(0):
        caller_of_plain(plain)


def test_a_revocation_elsewhere_is_seen_after_the_remembered_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    made, plain = token()
    caller_of_plain(plain)
    Token.objects.filter(pk=made.pk).update(revoked_at=timezone.now())  # as another process does: no signal here
    assert caller_of_plain(plain).user
    monkeypatch.setattr(tokens, "REMEMBERED_SECONDS", 0.0)
    assert refused(plain).reason == "revoked"


def test_a_changed_role_counts_at_once() -> None:
    user = person()
    _made, plain = token(user)
    assert caller_of_plain(plain).may(Scope.PUSH)
    user.role = Role.READER.value
    user.save()
    assert not caller_of_plain(plain).may(Scope.PUSH)


def test_last_used_is_written_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    made, plain = token()
    caller_of_plain(plain)
    first = Token.objects.get(pk=made.pk).last_used_at
    assert first is not None
    for seconds, moved in ((30, False), (61, True)):
        monkeypatch.setattr(tokens.timezone, "now", lambda at=first + timedelta(seconds=seconds): at)
        caller_of_plain(plain)
        assert (Token.objects.get(pk=made.pk).last_used_at != first) is moved


def test_an_older_secret_key_keeps_tokens_alive(settings: Any) -> None:
    _made, plain = token()
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "x" * 50
    assert caller_of_plain(plain).name() == "ann"
    settings.SECRET_KEY_FALLBACKS = []
    tokens._remembered.forget()
    assert refused(plain).reason == "unknown"


def test_readers_may_have_reading_tokens_only() -> None:
    reader = person(Role.READER)
    with pytest.raises(MayNotIssue, match="read only"):
        token(reader, scopes=[Scope.PUSH])
    _made, plain = token(reader, scopes=[Scope.READ])
    assert caller_of_plain(plain).may(Scope.READ)


@pytest.mark.parametrize(
    "changes", [{"scopes": []}, {"name": " "}, {"expires_in": timedelta(0)}, {"machine": Machine(name="m")}]
)
def test_senseless_tokens_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(MayNotIssue):
        token(**changes)


def test_a_machines_token_speaks_for_the_machine() -> None:
    machine = Machine.objects.create(name="rack-7")
    _made, plain = issue_token(machine=machine, name="t", scopes=[Scope.PUSH])
    caller = caller_of_plain(plain)
    assert caller.user is None and caller.machine == machine and caller.name() == "machine rack-7"
    assert not caller.measures
    machine.registered = True
    machine.save()
    assert caller_of_plain(plain).measures


def test_who_may_amend_a_run() -> None:
    ann, bob, operator = person(), person(name="bob"), person(Role.OPERATOR, "olga")
    rack7, rack8 = Machine.objects.create(name="rack-7"), Machine.objects.create(name="rack-8")
    pushed_with, _plain = issue_token(machine=rack7, name="t", scopes=[Scope.PUSH])
    of_ann, of_rack7 = Run(id=uuid4(), uploaded_by=ann), Run(id=uuid4(), token=pushed_with)

    def caller(user: User | None = None, machine: Machine | None = None) -> Caller:
        role = Role(user.role) if user else Role.UPLOADER
        return Caller(user, machine, None, frozenset(Scope), role)

    assert caller(ann).may_amend(of_ann) and not caller(bob).may_amend(of_ann)
    assert caller(operator).may_amend(of_ann) and caller(operator).may_amend(of_rack7)
    assert caller(None, rack7).may_amend(of_rack7) and not caller(None, rack8).may_amend(of_rack7)
    assert not caller(None, rack7).may_amend(of_ann)
    ann.role = Role.READER.value
    assert not caller(ann).may_amend(of_ann)
