"""The first operator, invitations and roles: links work once, and nobody raises themselves."""

import stat
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from bench_site.fleet import accounts, links
from bench_site.fleet.tokens import caller_of_plain
from bench_site.runs.models import Token, User
from bench_site.runs.models.words import Role, Scope

pytestmark = pytest.mark.django_db
PASSWORD = "kernel-fusion-42"


def person(role: Role, name: str, password: str | None = PASSWORD) -> User:
    user = User(username=name, role=role.value)
    user.set_password(password)
    user.save()
    return user


def test_the_first_operators_link_makes_one_administrator(client: Client) -> None:
    path = accounts.first_operator_link()
    assert path is not None and client.get(path).status_code == 200
    given = {"username": "olga", "email": "", "password": PASSWORD, "again": PASSWORD}
    answer = client.post(path, given, follow=True)
    assert answer.redirect_chain == [("/account/", 302)] and answer.context["user"].username == "olga"
    assert User.objects.get(username="olga").role == Role.ADMIN
    assert accounts.first_operator_link() is None
    second = Client().post(path, given | {"username": "eve"})
    assert second.status_code == 410 and "has an operator already" in second.content.decode()
    assert not User.objects.filter(username="eve").exists()


def test_a_setup_link_ends_after_a_day(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    path = accounts.first_operator_link()
    monkeypatch.setattr(links, "SETUP_LIFE", timedelta(seconds=-1))
    answer = client.get(path or "")
    assert answer.status_code == 410 and "too old" in answer.content.decode()


def test_a_spoilt_link_does_not_work(client: Client) -> None:
    path = accounts.first_operator_link() or ""
    for spoilt in (path[:-3] + "/", path.replace("operator", "admin"), "/account/welcome/1-abc:def:ghi/"):
        assert client.get(spoilt).status_code == 410


def test_an_invited_person_sets_a_password_once(client: Client) -> None:
    olga = person(Role.OPERATOR, "olga")
    ann, path = accounts.invite(by=olga, username="ann", role=Role.UPLOADER)
    weak = client.post(path, {"password": "12345678", "again": "12345678"})
    assert weak.status_code == 200 and "password" in weak.context["form"].errors
    unequal = client.post(path, {"password": PASSWORD, "again": PASSWORD + "x"})
    assert "The two passwords differ." in unequal.content.decode()
    answer = client.post(path, {"password": PASSWORD, "again": PASSWORD}, follow=True)
    assert answer.context["user"] == ann
    assert Client().get(path).status_code == 410
    assert Client().login(username="ann", password=PASSWORD)


def test_a_newer_link_ends_the_older_and_the_old_password() -> None:
    olga, ann = person(Role.OPERATOR, "olga"), person(Role.UPLOADER, "ann")
    first = accounts.renew_link(by=olga, user=ann)
    second = accounts.renew_link(by=olga, user=ann)
    assert Client().get(first).status_code == 410 and Client().get(second).status_code == 200
    assert not Client().login(username="ann", password=PASSWORD)


def test_nobody_invites_or_changes_above_their_role() -> None:
    olga, ann, admin = person(Role.OPERATOR, "olga"), person(Role.UPLOADER, "ann"), person(Role.ADMIN, "root")
    for wrong in (
        lambda: accounts.invite(by=olga, username="eve", role=Role.ADMIN),
        lambda: accounts.invite(by=ann, username="eve", role=Role.READER),
        lambda: accounts.renew_link(by=olga, user=admin),
        lambda: accounts.set_active(by=olga, user=admin, active=False),
        lambda: accounts.set_role(by=olga, user=olga, role=Role.ADMIN),
        lambda: accounts.set_role(by=admin, user=admin, role=Role.READER),
        lambda: accounts.set_active(by=admin, user=admin, active=False),
        lambda: accounts.set_role(by=admin, user=accounts.system_user(), role=Role.READER),
        lambda: accounts.set_active(by=admin, user=accounts.system_user(), active=True),
    ):
        with pytest.raises(accounts.NotAllowed):
            wrong()
    assert accounts.set_role(by=admin, user=ann, role=Role.OPERATOR).is_staff
    person(Role.ADMIN, "second")
    assert accounts.set_role(by=admin, user=admin, role=Role.READER).role == Role.READER


@pytest.mark.parametrize("name", ["demo", "Fuseboard", "ann", "two words", ""])
def test_names_that_cannot_be_used_are_refused(name: str) -> None:
    olga = person(Role.OPERATOR, "olga")
    person(Role.UPLOADER, "ann")
    with pytest.raises(ValidationError):
        accounts.invite(by=olga, username=name, role=Role.UPLOADER)


def test_closing_an_account_ends_its_session() -> None:
    olga, ann = person(Role.OPERATOR, "olga"), person(Role.UPLOADER, "ann")
    client = Client()
    client.force_login(ann)
    assert client.get("/account/").status_code == 200
    accounts.set_active(by=olga, user=ann, active=False)
    assert client.get("/account/").status_code == 302


def test_createoperator_by_options_prints_a_link() -> None:
    out = StringIO()
    call_command("createoperator", "--username", "olga", "--role", "operator", "--link", stdout=out)
    path = out.getvalue().splitlines()[-1]
    assert User.objects.get(username="olga").role == Role.OPERATOR
    assert Client().get(path).status_code == 200
    with pytest.raises(CommandError, match="already exists"):
        call_command("createoperator", "--username", "olga", "--link", stdout=out)


def test_createoperator_asks_for_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["olga", PASSWORD, PASSWORD, "typo", PASSWORD, "typo"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(answers))
    monkeypatch.setattr("getpass.getpass", lambda _prompt: next(answers))
    call_command("createoperator", stdout=StringIO())
    assert Client().login(username="olga", password=PASSWORD)
    with pytest.raises(CommandError, match="differ"):
        call_command("createoperator", stdout=StringIO())


def test_the_demo_token_is_private_and_reused(tmp_path: Path, django_assert_num_queries: Any) -> None:
    path = tmp_path / "demo.token"
    plain = accounts.demo_token(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.read_text() == plain + "\n"
    caller = caller_of_plain(plain)
    assert caller.scopes == {Scope.PUSH} and caller.measures and caller.name() == "demo"
    assert caller.token and caller.token.expires_at
    assert timedelta(days=6) < caller.token.expires_at - timezone.now() <= timedelta(days=7)
    path.chmod(0o644)
    assert accounts.demo_token(path) == plain
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    Token.objects.all().update(expires_at=timezone.now() + timedelta(hours=1))
    Token.objects.get().save()
    renewed = accounts.demo_token(path)
    assert renewed != plain and caller_of_plain(renewed)
    path.write_text("something else")
    assert accounts.demo_token(path) not in (plain, renewed, "something else")
    assert User.objects.filter(username="demo").count() == 1
    assert accounts.first_operator_link() is not None
