"""The account pages: a token's text is on one page once; forms have labels and say what to type."""

import re

import pytest
from django.test import Client

from bench_site.fleet.tokens import caller_of_plain, issue_token
from bench_site.runs.models import Machine, Token, User
from bench_site.runs.models.words import Role, Scope

pytestmark = pytest.mark.django_db


def signed_in(role: Role = Role.UPLOADER, name: str = "ann") -> tuple[Client, User]:
    user = User.objects.create_user(name, role=role.value)
    client = Client()
    client.force_login(user)
    return client, user


def test_a_new_token_is_shown_once_with_what_to_type() -> None:
    client, user = signed_in()
    form = {"name": "rack 7", "scopes": ["push"], "days": "30", "measures": "on"}
    answer = client.post("/account/tokens/new/", form)
    page = answer.content.decode()
    found = re.search(r"export FUSEBOARD_TOKEN=(fb_\w+)", page)
    assert found and "export FUSEBOARD_URL=http://testserver" in page and "fuseboard login http://testserver" in page
    assert "no-store" in answer.headers["Cache-Control"]
    caller = caller_of_plain(found[1])
    assert caller.user == user and caller.scopes == {Scope.PUSH} and caller.measures
    listed = client.get("/account/").content.decode()
    assert found[1] not in listed and f"fb_{Token.objects.get().prefix}" in listed


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scopes": []}, {"scopes": ["root"]}, {"days": "100000"}])
def test_a_wrong_form_makes_no_token(wrong: dict[str, object]) -> None:
    client, _user = signed_in()
    answer = client.post("/account/tokens/new/", {"name": "t", "scopes": ["push"], "days": "30"} | wrong)
    assert answer.status_code == 422 and answer.context["form"].errors and not Token.objects.exists()


def test_a_reader_is_offered_and_given_reading_only() -> None:
    client, _user = signed_in(Role.READER)
    assert 'value="push"' not in client.get("/account/").content.decode()
    form = {"name": "t", "days": "30"}
    assert client.post("/account/tokens/new/", form | {"scopes": ["push"]}).status_code == 422
    assert client.post("/account/tokens/new/", form | {"scopes": ["read"]}).status_code == 200


def test_one_revokes_ones_own_tokens_and_no_others() -> None:
    client, user = signed_in()
    mine, _plain = issue_token(user=user, name="mine", scopes=[Scope.PUSH])
    other, _plain = issue_token(user=User.objects.create_user("bob"), name="his", scopes=[Scope.PUSH])
    of_machine, _plain = issue_token(machine=Machine.objects.create(name="m"), name="m", scopes=[Scope.PUSH])
    assert client.post(f"/account/tokens/{mine.pk}/revoke/").status_code == 302
    for foreign in (other, of_machine):
        assert client.post(f"/account/tokens/{foreign.pk}/revoke/").status_code == 404
    operator, _olga = signed_in(Role.OPERATOR, "olga")
    assert operator.post(f"/account/tokens/{of_machine.pk}/revoke/").headers["Location"] == "/account/machines/"
    assert operator.post(f"/account/tokens/{other.pk}/revoke/").status_code == 404
    assert set(Token.objects.filter(revoked_at=None)) == {other}


def test_an_operator_registers_a_machine_with_its_token() -> None:
    client, _olga = signed_in(Role.OPERATOR, "olga")
    form = {"new_machine": "rack-7", "name": "agent", "scopes": ["push", "agent"], "days": "365"}
    answer = client.post("/account/machines/token/", form)
    found = re.search(r"FUSEBOARD_TOKEN=(fb_\w+)", answer.content.decode())
    assert found and caller_of_plain(found[1]).name() == "machine rack-7" and caller_of_plain(found[1]).measures
    assert client.post("/account/machines/token/", form | {"new_machine": ""}).status_code == 422
    page = client.get("/account/machines/").content.decode()
    assert "rack-7" in page and found[1] not in page


def test_an_operator_invites_and_an_administrator_sets_roles() -> None:
    client, _olga = signed_in(Role.OPERATOR, "olga")
    answer = client.post("/account/people/invite/", {"username": "bob", "role": "uploader"})
    found = re.search(r"http://testserver(/account/welcome/[^<\s]+)", answer.content.decode())
    assert found and Client().get(found[1]).status_code == 200
    assert client.post("/account/people/invite/", {"username": "bob", "role": "uploader"}).status_code == 422
    assert client.post("/account/people/invite/", {"username": "eve", "role": "admin"}).status_code == 422
    bob = User.objects.get(username="bob")
    assert client.post(f"/account/people/{bob.pk}/role/", {"role": "operator"}).status_code == 403
    admin, _root = signed_in(Role.ADMIN, "root")
    admin.post(f"/account/people/{bob.pk}/role/", {"role": "operator"})
    admin.post(f"/account/people/{bob.pk}/active/", {"active": "0"})
    bob.refresh_from_db()
    assert bob.role == Role.OPERATOR and not bob.is_active


def test_the_list_of_people_costs_the_same_for_many(django_assert_max_num_queries: object) -> None:
    client, _olga = signed_in(Role.OPERATOR, "olga")
    for number in range(30):
        issue_token(user=User.objects.create_user(f"p{number}"), name="t", scopes=[Scope.PUSH])
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        assert client.get("/account/people/").status_code == 200


@pytest.mark.parametrize("path", ["/account/", "/account/password/", "/account/people/", "/account/machines/"])
def test_every_field_has_a_label_and_no_page_has_inline_script(path: str) -> None:
    client, _root = signed_in(Role.ADMIN, "root")
    page = client.get(path).content.decode()
    main = page[page.index("<main") : page.index("</main>")]
    for field in re.findall(r"<(?:input|select|textarea)[^>]*>", main):
        if 'type="hidden"' in field or " hidden" in field:
            continue
        found = re.search(r'id="([^"]+)"', field)
        assert (found and f'for="{found[1]}"' in main) or 'type="checkbox"' in field, field
    assert "<script" not in main and not re.search(r"\son\w+=", main)
    assert "autocomplete=" in main
