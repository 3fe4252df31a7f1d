"""Every URL of the site, as every kind of visitor: who comes in and who does not.

The table here is written by hand and says it once more, independently of ``access.RULES``: a rule that is changed by
mistake, and a URL that has none, fail.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import URLPattern, get_resolver, path

from bench_site.fleet.access import RULES, rule_for
from bench_site.fleet.tokens import issue_token
from bench_site.runs.models import (
    Chip,
    ChipAlias,
    ExchangeRate,
    LanguageModel,
    Machine,
    ModelAlias,
    Price,
    Token,
    User,
)
from bench_site.runs.models.words import Role, Scope

PEOPLE = ("anonymous", "reader", "uploader", "operator", "admin")
TOKENS = ("push", "read", "agent", "machine")

EVERYBODY = {*PEOPLE, *TOKENS}
SIGNED_IN = {"reader", "uploader", "operator", "admin"}
OPERATORS = {"operator", "admin"}
#: URL name -> who comes in: on an open site, and on a closed one (FUSEBOARD_PUBLIC=false).
READ = (EVERYBODY, SIGNED_IN | {"read"})
OPEN = (EVERYBODY, EVERYBODY)
PUSH = ({"push", "machine"},) * 2
ANY_TOKEN = (set(TOKENS),) * 2
OWN = (SIGNED_IN,) * 2
OPERATE = (OPERATORS,) * 2
ADMINISTRATE = ({"admin"},) * 2

EXPECTED: dict[str, tuple[set[str], set[str]]] = {
    "favicon": OPEN, "healthz": OPEN, "readyz": OPEN, "set_language": OPEN,
    "home": READ, "compare": READ, "compare-csv": READ, "runs": READ, "run": READ, "run-raw": READ,
    "hardware": READ, "chip": READ,
    "account-signin": OPEN, "account-signout": OPEN, "account-welcome": OPEN, "account-setup": OPEN,
    "account": OWN, "account-password": OWN, "account-token-new": OWN, "account-token-revoke": OWN,
    "people": OPERATE, "people-invite": OPERATE, "person-link": OPERATE, "person-active": OPERATE,
    "person-role": ADMINISTRATE, "machines": OPERATE, "machine-token-new": OPERATE,
    "api:push-run": PUSH, "api:push-batch": PUSH, "api:upload-file": PUSH,
    "api:upload": ANY_TOKEN, "api:whoami": ANY_TOKEN, "api:run": READ, "api:run-raw": READ,
    "api:schema": OPEN, "api:openapi-json": OPEN, "api:openapi-view": OPEN, "api:api-root": OPEN,
    "api:no-such-address": OPEN,
}  # fmt: skip

NOT_IN_THE_ADMIN = {f"admin:runs_{table}_{verb}" for table in ("user", "token") for verb in ("add", "delete")}
ADMIN_TABLES = {Chip, LanguageModel, Price, ExchangeRate, Machine, User, Token}

SAMPLES: dict[str, object] = {
    "uuid": UUID(int=7), "uuidstr": UUID(int=7), "int": 999_999, "str": "none", "slug": "none", "path": "none",
}  # fmt: skip


def urls(patterns: Any = None, prefix: str = "/", namespaces: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """(name as in RULES, an address) of every URL pattern."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + sample(pattern)
        if isinstance(pattern, URLPattern):
            name = ":".join([*namespaces, pattern.name or pattern.lookup_str])
            yield ("api:" + name.split(":", 1)[1] if name.startswith("api-") else name), address
        else:
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            yield from urls(pattern.url_patterns, address, inner)


def sample(pattern: Any) -> str:
    """A pattern's text with something in the place of its parameters."""
    text = str(pattern.pattern)
    text = re.sub(r"<(\w+):\w+>", lambda found: str(SAMPLES[found[1]]), text)
    if "(?P<app_label>" in text:
        return "runs/"
    return {"(?P<url>.*)$": "none", "^.*$": "none"}.get(text, text)


def expected(name: str) -> tuple[set[str], set[str]]:
    # Sign-in is ours; people and tokens are not made or removed there; no field looks anything up.
    if name in ("admin:login", "admin:autocomplete") or name in NOT_IN_THE_ADMIN:
        return set(), set()
    administrators = (
        "admin:runs_user_",
        "admin:runs_token_",
        "admin:runs_price_delete",
        "admin:runs_exchangerate_delete",
    )
    if name.startswith(administrators):
        return ADMINISTRATE
    return OPERATE if name.startswith("admin:") else EXPECTED[name]


@pytest.fixture
def visitors(db: None) -> dict[str, Client]:
    """A client for each kind of visitor."""
    found = {"anonymous": Client()}
    for role in Role:
        user = User.objects.create_user(f"the-{role.value}", role=role.value)
        found[role.value] = Client()
        found[role.value].force_login(user)
    uploader = User.objects.get(username="the-uploader")
    machine = Machine.objects.create(name="rack-7")
    owners: dict[str, dict[str, Any]] = {
        "push": {"user": uploader, "scopes": [Scope.PUSH]},
        "read": {"user": uploader, "scopes": [Scope.READ]},
        "agent": {"user": uploader, "scopes": [Scope.AGENT]},
        "machine": {"machine": machine, "scopes": [Scope.PUSH]},
    }
    for name, given in owners.items():
        _token, plain = issue_token(name=name, expires_in=timedelta(days=1), **given)
        found[name] = Client(headers={"Authorization": f"Bearer {plain}"})
    return found


def came_in(answer: HttpResponse) -> bool:
    """Whether the view was reached: neither refused nor sent to the sign-in page."""
    if answer.status_code in (401, 403):
        return False
    return not answer.headers.get("Location", "").startswith("/account/signin/")


def test_every_url_has_a_rule_and_every_rule_a_url() -> None:
    names = {name for name, _address in urls()}
    without = sorted(name for name in names if rule_for(name) is None)
    assert not without, f"add a rule to bench_site/fleet/access.py, and a line to this test, for: {without}"
    unknown = {name for name in RULES if "*" not in name} - names
    assert not unknown, f"rules without a URL: {sorted(unknown)}"
    assert names - {name for name in names if name.startswith("admin:")} == set(EXPECTED)


def test_the_admin_shows_no_table_that_nobody_decided_about() -> None:
    assert set(admin.site._registry) == ADMIN_TABLES
    assert not {ChipAlias, ModelAlias} & set(admin.site._registry)  # only inside their chip or model


@pytest.mark.parametrize("public", [True, False], ids=["open site", "closed site"])
def test_role_by_url(visitors: dict[str, Client], public: bool) -> None:
    wrong = []
    with override_settings(FUSEBOARD_PUBLIC=public):
        for name, address in urls():
            allowed = expected(name)[0 if public else 1]
            for visitor, client in visitors.items():
                if name == "account-signout" and visitor in SIGNED_IN:
                    continue  # it would end the session that the next address needs; tested with sign-in
                methods = ["get"] if name.startswith("admin:") else ["get", "post"]
                for method in methods:
                    answer = getattr(client, method)(address)
                    if came_in(answer) is not (visitor in allowed):
                        wrong.append(f"{visitor} {method.upper()} {address} ({name}): {answer.status_code}")
                    assert answer.status_code < 500 or name == "readyz", (
                        f"{visitor} {method} {address}: {answer.status_code}"
                    )
    assert not wrong, "\n".join(wrong)


def test_a_new_url_without_rule_is_closed_to_everybody(
    visitors: dict[str, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    new = path("brand-new/", lambda request: HttpResponse("secret"), name="brand-new")
    monkeypatch.setattr(get_resolver(), "url_patterns", [*get_resolver().url_patterns, new])
    with pytest.raises(AssertionError, match="brand-new"):
        test_every_url_has_a_rule_and_every_rule_a_url()
    for visitor, client in visitors.items():
        assert client.get("/brand-new/").status_code == 403, visitor


@pytest.mark.parametrize(
    ("address", "status"),
    [("/runs/", 302), ("/compare.csv", 401), ("/api/v1/runs/00000000-0000-0000-0000-000000000007", 401)],
)
@override_settings(FUSEBOARD_PUBLIC=False)
def test_a_closed_site_asks_people_to_sign_in_and_tells_programs(db: None, address: str, status: int) -> None:
    answer = Client().get(address)
    assert answer.status_code == status
    if status == 302:
        assert answer.headers["Location"] == "/account/signin/?next=%2Fruns%2F"
    else:
        problem = answer.json()
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert problem["code"] == "not-signed-in" and "Authorization: Bearer" in problem["detail"]
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@override_settings(FUSEBOARD_PUBLIC=False)
def test_a_closed_site_names_what_is_wrong_with_a_token(visitors: dict[str, Client]) -> None:
    assert visitors["read"].get("/compare.csv").status_code == 200
    answer = visitors["push"].get("/compare.csv")
    assert answer.status_code == 403 and "lacks the scope read" in answer.json()["detail"]
    Token.objects.get(name="read").delete()
    assert visitors["read"].get("/compare.csv").json()["extra"]["reason"] == "unknown"


@override_settings(FUSEBOARD_PUBLIC=False)
def test_htmx_is_sent_to_the_sign_in_page_as_a_whole(db: None) -> None:
    answer = Client(headers={"HX-Request": "true"}).get("/compare/?model=x")
    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == "/account/signin/?next=%2Fcompare%2F%3Fmodel%3Dx"


def test_the_admins_own_sign_in_is_ours(db: None) -> None:
    answer = Client().get("/admin/login/?next=/admin/runs/chip/")
    assert answer.headers["Location"] == "/account/signin/?next=%2Fadmin%2Fruns%2Fchip%2F"
