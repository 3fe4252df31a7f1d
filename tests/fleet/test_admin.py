"""Django's admin: operators keep the catalogue, map what is unknown, and break no key by a typing error."""

from datetime import date
from decimal import Decimal

import pytest
from django.test import Client

from bench_site.fleet.tokens import issue_token
from bench_site.runs.models import Chip, ChipAlias, ExchangeRate, Machine, Price, Token, User
from bench_site.runs.models.words import Role, Scope

pytestmark = pytest.mark.django_db


def signed_in(role: Role) -> Client:
    client = Client()
    client.force_login(User.objects.create_user(f"the-{role.value}", role=role.value))
    return client


NO_ALIASES = {f"aliases-{key}": value for key, value in (("TOTAL_FORMS", 0), ("INITIAL_FORMS", 0))}


def chip_form(**fields: object) -> dict[str, object]:
    return {"name": "X1", "known": "on", "sources": "{}", **NO_ALIASES} | fields


def test_an_operator_enters_a_chip_and_its_slug_is_made() -> None:
    client = signed_in(Role.OPERATOR)
    answer = client.post("/admin/runs/chip/add/", chip_form(name="Acme X-1 (OAM)", bandwidth="3e12"))
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    chip = Chip.objects.get()
    assert (chip.slug, chip.bandwidth, chip.memory_bytes, chip.known) == ("acmex1oam", 3e12, None, True)
    renamed = client.post(f"/admin/runs/chip/{chip.pk}/change/", chip_form(name="Acme X1"))
    chip.refresh_from_db()
    assert renamed.status_code == 302 and (chip.name, chip.slug) == ("Acme X1", "acmex1oam")


@pytest.mark.parametrize("name", ["h200 sxm", "H-200"])
def test_a_name_that_is_taken_makes_no_second_chip(name: str) -> None:
    ChipAlias.objects.create(slug="h200", chip=Chip.objects.create(slug="h200sxm", name="H200 SXM"))
    answer = signed_in(Role.OPERATOR).post("/admin/runs/chip/add/", chip_form(name=name))
    assert "already stands for H200 SXM" in answer.content.decode() and Chip.objects.count() == 1


def test_an_alias_is_kept_as_names_are_compared_and_is_no_chips_own_name() -> None:
    client, chip = signed_in(Role.OPERATOR), Chip.objects.create(slug="h200sxm", name="H200 SXM")
    Chip.objects.create(slug="h20", name="H20", known=False)
    address = f"/admin/runs/chip/{chip.pk}/change/"
    alias = {"aliases-TOTAL_FORMS": 1, "aliases-0-chip": chip.pk}
    client.post(address, chip_form(**alias | {"aliases-0-slug": "NVIDIA H-200"}))
    assert ChipAlias.objects.get().slug == "nvidiah200"
    refused = client.post(address, chip_form(**alias | {"aliases-0-slug": "H20"}))
    assert "is an entry of its own" in refused.content.decode() and ChipAlias.objects.count() == 1


def test_unknown_chips_are_mapped_from_the_list() -> None:
    client, known = signed_in(Role.OPERATOR), Chip.objects.create(slug="h200sxm", name="H200 SXM")
    one = Chip.objects.create(slug="labchip9", name="Lab chip 9", known=False)
    page = client.get("/admin/runs/chip/?known__exact=0").content.decode()
    assert "Lab chip 9" in page and f'<option value="{known.pk}">H200 SXM</option>' in page
    form = {"action": "map_to", "_selected_action": [one.pk, known.pk], "to": ""}
    answer = client.post("/admin/runs/chip/", form, follow=True)
    assert "Choose the known entry" in answer.content.decode() and Chip.objects.count() == 2
    answer = client.post("/admin/runs/chip/", form | {"to": known.pk}, follow=True)
    said = answer.content.decode()
    assert '<a href="/hardware/h200sxm/">0 runs now count as H200 SXM.</a> Lab chip 9 is from now on another' in said
    assert "cannot be mapped to itself" in said
    assert Chip.objects.get() == known and ChipAlias.objects.get(slug="labchip9").chip == known


PRICE = {
    "tier": "rental", "currency": "USD", "amount_per_chip_hour": "2.05", "valid_from": "2026-09-01", "source": "a list",
}  # fmt: skip


def a_price(chip: Chip) -> Price:
    return Price.objects.create(chip=chip, **PRICE | {"amount_per_chip_hour": Decimal("2.05")})


def test_a_price_that_is_none_is_refused_in_words() -> None:
    client, chip = signed_in(Role.OPERATOR), Chip.objects.create(slug="h200sxm", name="H200 SXM")
    form = PRICE | {"chip": chip.pk, "currency": "usd"}
    assert client.post("/admin/runs/price/add/", form).status_code == 302
    for wrong, words in (
        ({"amount_per_chip_hour": "0"}, "The price must be above 0."),
        ({"currency": "12"}, "A currency is a code of three letters"),
        ({}, "one price a chip, tier and day"),
    ):
        answer = client.post("/admin/runs/price/add/", form | wrong)
        assert answer.status_code == 200 and words in answer.content.decode(), wrong
    assert (Price.objects.get().valid_from, Price.objects.get().currency) == (date(2026, 9, 1), "USD")


def test_a_price_keeps_what_it_said_and_a_newer_one_is_prefilled() -> None:
    client, chip = signed_in(Role.OPERATOR), Chip.objects.create(slug="h200sxm", name="H200 SXM")
    price = a_price(chip)
    changed = PRICE | {"chip": chip.pk, "amount_per_chip_hour": "9", "source": "another", "note": "list of August"}
    assert client.post(f"/admin/runs/price/{price.pk}/change/", changed).status_code == 302
    price.refresh_from_db()
    assert (price.amount_per_chip_hour, price.source, price.note) == (Decimal("2.05"), "a list", "list of August")
    newer = f"/admin/runs/price/add/?chip={chip.pk}&amp;tier=rental&amp;currency=USD"
    assert "2.050000" not in client.get(f"/admin/runs/price/{price.pk}/change/").content.decode()
    for page in (f"/admin/runs/price/{price.pk}/change/", "/admin/runs/price/"):
        assert f'href="{newer}">Add a newer price</a>' in client.get(page).content.decode()
    initial = client.get(newer.replace("&amp;", "&")).context["adminform"].form
    assert [initial[name].value() for name in PRICE] == ["rental", "USD", None, None, None]
    assert initial["chip"].value() == str(chip.pk)


def test_prices_are_found_by_chip_and_tier() -> None:
    client, chip = signed_in(Role.OPERATOR), Chip.objects.create(slug="h200sxm", name="H200 SXM")
    a_price(chip)
    for words, found in (("h200", 1), ("rental", 1), ("B300", 0)):
        assert client.get("/admin/runs/price/", {"q": words}).context["cl"].result_count == found


def test_only_an_administrator_deletes_a_price_and_reads_what_that_does() -> None:
    price = a_price(Chip.objects.create(slug="h200sxm", name="H200 SXM"))
    operator, address = signed_in(Role.OPERATOR), f"/admin/runs/price/{price.pk}/delete/"
    assert operator.post(address, {"post": "yes"}).status_code == 403
    selected = {"action": "delete_selected", "_selected_action": [price.pk]}
    operator.post("/admin/runs/price/", selected | {"post": "yes"})
    assert Price.objects.count() == 1
    admin = signed_in(Role.ADMIN)
    for page in (admin.get(address), admin.post("/admin/runs/price/", selected)):
        assert "Delete only what was entered by mistake" in page.content.decode()
    admin.post(address, {"post": "yes"})
    assert not Price.objects.exists()


def test_an_exchange_rate_stays_as_it_is() -> None:
    client = signed_in(Role.OPERATOR)
    form = {"base": "usd", "quote": "cny", "rate": "7.1", "date": "2026-09-01", "source": "a bank"}
    assert client.post("/admin/runs/exchangerate/add/", form).status_code == 302
    rate = ExchangeRate.objects.get()
    assert str(rate) == "1 USD = 7.1 CNY on 2026-09-01"
    for wrong, words in (
        ({"rate": "-1"}, "The rate must be above 0."),
        ({"quote": "USD"}, "The two currencies must differ."),
        ({}, "one rate a pair and day"),
    ):
        assert words in client.post("/admin/runs/exchangerate/add/", form | wrong).content.decode()
    address = f"/admin/runs/exchangerate/{rate.pk}/change/"
    page = client.get(address).content.decode()
    assert "/admin/runs/exchangerate/add/?base=USD&amp;quote=CNY" in page and "add a newer one" in page
    assert client.post(address, form | {"rate": "8"}).status_code == 403


def test_the_admin_speaks_chinese() -> None:
    client = signed_in(Role.ADMIN)
    client.cookies["django_language"] = "zh-hans"
    for address, words in (
        ("/admin/", ["目录与价格", "价格", "芯片", "语言模型", "机器", "令牌", "汇率"]),
        ("/admin/runs/price/add/", ["芯片", "价格档", "每芯片小时金额", "生效日期"]),
        ("/admin/runs/chip/add/", ["芯片别名"]),
    ):
        page = client.get(address).content.decode()
        assert not [word for word in words if word not in page], address


def test_a_machines_name_stays_because_results_are_keyed_by_it() -> None:
    client, machine = signed_in(Role.OPERATOR), Machine.objects.create(name="rack-7")
    client.post(f"/admin/runs/machine/{machine.pk}/change/", {"name": "rack-8", "registered": "on"})
    machine.refresh_from_db()
    assert machine.name == "rack-7" and machine.registered


def test_an_administrator_revokes_tokens_and_sees_no_digest() -> None:
    token, _plain = issue_token(user=User.objects.create_user("ann"), name="t", scopes=[Scope.PUSH])
    client = signed_in(Role.ADMIN)
    assert token.digest not in client.get(f"/admin/runs/token/{token.pk}/change/").content.decode()
    client.post("/admin/runs/token/", {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert client.post(f"/admin/runs/token/{token.pk}/change/", {"revoked_at": ""}).status_code == 403
    assert client.post("/admin/runs/token/", {"action": "delete_selected", "_selected_action": [token.pk]})
    assert Token.objects.filter(pk=token.pk).exists()


def test_the_admins_password_page_is_ours() -> None:
    answer = signed_in(Role.OPERATOR).get("/admin/password_change/")
    assert answer.headers["Location"] == "/account/password/"


@pytest.mark.parametrize("table", ["chip", "languagemodel", "price", "exchangerate", "machine"])
def test_every_list_and_form_opens_without_inline_script(table: str) -> None:
    client = signed_in(Role.OPERATOR)
    for address in (f"/admin/runs/{table}/", f"/admin/runs/{table}/add/"):
        page = client.get(address)
        assert page.status_code == 200
        scripts = [part.split(">", 1) for part in page.content.decode().split("<script")[1:]]
        inline = [body for head, body in scripts if "src=" not in head and "application/json" not in head]
        assert not inline, address


@pytest.mark.parametrize("query", ["name=%00", "slug=%00", "name__icontains=a%00"])
def test_a_nul_in_a_filter_is_a_bad_request(query: str) -> None:
    client = signed_in(Role.OPERATOR)
    client.raise_request_exception = False
    assert client.get(f"/admin/runs/chip/?{query}").status_code == 400
