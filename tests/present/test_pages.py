"""The pages: status, what they say, how many queries they ask, what they never contain."""

import json
import re
import uuid
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from bench_site.present import csv
from bench_site.runs.models import Chip, GroupStatistic, Point, Run
from tests.compare import factory

pytestmark = pytest.mark.django_db

QUERIES = 9


@pytest.fixture
def runs() -> list[uuid.UUID]:
    """Two machines, a ladder on one of them, prices for one chip."""
    factory.price("h200", "2.90")
    return factory.store(
        factory.report(loads=[(8, 0.02, 800.0), (64, 0.05, 3200.0)], tags=["night"]),
        factory.report(kernel="op_by_op", loads=[(8, 0.06, 300.0)]),
        factory.report(
            chip="tpuv7", chips=16, kernel="megakernel", engine="tpu-megakernels", loads=[(8, 0.008, 1500.0)]
        ),
        factory.report(
            chip="mi355x", evidence="published", verification="not_run", machine=None, loads=[(8, 0.03, 700.0)]
        ),
    )


def text(answer: Any) -> str:
    return unescape(answer.content.decode())


def figure_of(answer: Any) -> dict[str, Any]:
    found = re.search(r'<script id="figure" type="application/json">(.*?)</script>', answer.content.decode(), re.S)
    assert found
    return json.loads(found.group(1))


# ------------------------------------------------------------------------------------------------ compare


def test_without_parameters_the_page_goes_on_to_a_choice_that_its_address_holds(client: Client, runs: object) -> None:
    for address in ("/", "/compare/"):
        answer = client.get(address)
        assert answer.status_code == 302
        assert "model=kimik3" in answer["Location"] and answer["Location"].startswith("/compare/?")
    assert client.get(answer["Location"]).status_code == 200


def test_an_empty_site_teaches_the_next_command(client: Client) -> None:
    answer = client.get("/", follow=True)
    assert answer.status_code == 200
    assert "fuseboard push" in text(answer)


def test_chart_and_table_hold_every_group_and_the_table_every_unit(client: Client, runs: object) -> None:
    answer = client.get("/compare/?model=kimik3")
    page = text(answer)
    drawn = [trace for trace in figure_of(answer)["data"] if trace["mode"] == "lines+markers"]
    assert sum(len(trace["x"]) for trace in drawn) == page.count("<tr id=") == 5
    for header in ("TTFT p50, ms", "TPOT p50, ms", "$ per M output tokens", "Tokens/s per user"):
        assert header in page
    assert "no price for TPU v7" in page
    assert "not verified" in page and "✓ verified" in page


def test_the_csv_has_the_numbers_of_the_table(client: Client, runs: object) -> None:
    query = "model=kimik3&sort=tpot_p50"
    page = client.get(f"/compare/?{query}").content.decode()
    rows = csv.parse(client.get(f"/compare.csv?{query}").content)
    shown = re.findall(r'data-l="TPOT p50, ms">([\d.,]+)<', page)
    assert [float(value) for value in shown] == [float(row["tpot_p50 (ms)"] or 0) for row in rows]
    costs = re.findall(r"<b>\$([\d.]+)</b>", page)
    exact = [float(v) for row in rows if (v := row["cost_per_m_output_tokens (USD/M output tokens)"])]
    assert [float(value) for value in costs] == pytest.approx(exact, rel=0.01)


def test_a_filter_leaves_the_others_with_counts(client: Client, runs: object) -> None:
    page = text(client.get("/compare/?model=kimik3&strategy=megakernel"))
    assert page.count("<tr id=") == 1
    assert re.search(r'name="strategy" value="megakernel"[^>]* checked', page)
    assert re.search(r'value="op_by_op"[^>]*><span>op by op</span><small>1</small>', page)
    assert "Kernel strategy: megakernel" in page


def test_htmx_gets_the_part_that_changes(client: Client, runs: object) -> None:
    answer = client.get("/compare/?model=kimik3", headers={"HX-Request": "true"})
    assert answer.content.lstrip().startswith(b'<div id="compare">') and b"<html" not in answer.content


def test_parameters_without_a_field_survive_a_change_of_filter(client: Client, runs: object) -> None:
    page = text(client.get("/compare/?model=kimik3&tag=night&sort=-interactivity&rows=10"))
    for name, value in (("tag", "night"), ("sort", "-interactivity"), ("rows", "10")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in page


def test_a_header_sorts_the_best_first_then_the_other_way_then_by_rank(client: Client, runs: object) -> None:
    first = re.search(r'<a href="(\?[^"]*sort=tpot_p50[^"]*)"', client.get("/compare/?model=kimik3").content.decode())
    assert first
    second = client.get("/compare/" + unescape(first.group(1))).content.decode()
    assert 'aria-sort="ascending"' in second and "sort=-tpot_p50" in second


def test_wrong_parameters_are_all_named_and_no_unfiltered_rows_are_shown(client: Client, runs: object) -> None:
    answer = client.get("/compare/?model=kimik3&strategy=magic&rows=0&modell=x")
    assert answer.status_code == 400
    page = text(answer)
    assert "magic" in page and "rows" in page and "did you mean “model”?" in page and "<tr id=" not in page
    rest = re.search(r'<a class="btn main" href="([^"]*)">Show the rest', page)
    assert rest and text(client.get(rest.group(1))).count("<tr id=") == 5


def test_every_model_is_listed_and_choosing_one_never_shows_nothing_by_accident(client: Client, runs: object) -> None:
    here = "model=kimik3&workload=serving-closed-1024-1024"
    assert "in other workloads" not in text(client.get(f"/compare/?{here}"))
    factory.store(factory.report(model="Third", lengths=(8192, 1024)))
    page = text(client.get(f"/compare/?{here}"))
    group = re.search(r'<optgroup label="in other workloads">(.*?)</optgroup>', page)
    assert group and '<option value="third">Third (1)</option>' in group.group(1)
    answer = client.get("/compare/?model=third&workload=serving-closed-1024-1024&currency=CNY")
    assert answer.status_code == 302
    assert "workload=serving-closed-8192-1024" in answer["Location"] and "currency=CNY" in answer["Location"]
    assert text(client.get(answer["Location"])).count("<tr id=") == 1
    nothing = text(client.get("/compare/?model=third&chip=tpuv7"))
    assert "Nothing matches these filters" in nothing and "Everything of this model" in nothing


def test_the_newest_run_leads_to_its_comparison(client: Client, runs: object) -> None:
    factory.store(factory.report(model="Other", chip="mi355x", chips=4, lengths=(8192, 1024)))
    page = text(client.get("/compare/?model=kimik3"))
    newest = re.search(r'Newest run: <a href="([^"]*)">Other on MI355X ×4</a> · <time datetime=', page)
    assert newest and "book=rental" in newest.group(1) and "currency=USD" in newest.group(1)
    assert text(client.get(newest.group(1))).count("<tr id=") == 1


def test_a_site_of_claims_says_so_and_how_to_push(client: Client) -> None:
    factory.store(factory.report(evidence="claimed", machine=None))
    page = text(client.get("/compare/?model=kimik3"))
    assert "These are public claims. Push your own:" in page and "Public claims (not ranked)" in page
    factory.store(factory.report())
    assert "These are public claims" not in text(client.get("/compare/?model=kimik3"))


def test_shared_addresses_name_book_and_currency(client: Client, runs: list[uuid.UUID]) -> None:
    pinned = "book=rental@2026-04-03&currency=USD"
    page = text(client.get("/compare/?model=kimik3"))
    link = re.search(r'href="([^"]*)" data-copy-link', page)
    assert link and pinned in link.group(1) and pinned in client.get("/")["Location"]
    run = text(client.get(f"/runs/{runs[0]}/"))
    assert run.count(f"/compare/?{pinned}&") == 3 and "Show in the comparison" in run


def test_a_run_says_what_its_tokens_cost_or_why_nobody_knows(client: Client, runs: list[uuid.UUID]) -> None:
    page = text(client.get(f"/runs/{runs[0]}/"))
    # 8 x 2.90 an hour at 800 and 3,200 tokens/s.
    assert "Cost per M output tokens" in page and "$8.06" in page and "$2.01" in page
    assert "Prices: rental, 2026-04-03, all cost on output tokens" in page
    assert "Cost per M output tokens: unknown, no price for TPU v7" in text(client.get(f"/runs/{runs[2]}/"))


def test_the_machine_leads_to_its_run(client: Client, runs: list[uuid.UUID]) -> None:
    page = text(client.get("/compare/?model=kimik3&chip=tpuv7"))
    link = re.search(r'<th scope="row"><a href="([^"]*)">', page)
    assert link and client.get(link.group(1))["Location"] == f"/runs/{runs[2]}/"


def test_pools_of_one_chip_share_its_name(client: Client) -> None:
    pools = [{"role": "prefill", "chip": "h200", "chips": 26}, {"role": "decode", "chip": "h200", "chips": 16}]
    (run,) = factory.store(factory.report(pools=pools))
    page = text(client.get("/compare/?model=kimik3"))
    assert ">×26+16<" in page and ">prefill + decode<" in page
    assert "Kimi K3 on H200 ×26+16" in text(client.get(f"/runs/{run}/"))


def test_a_marked_point_says_why(client: Client) -> None:
    factory.store(factory.report(machine=None))
    Point.objects.update(plausibility="flag")
    GroupStatistic.objects.update(plausibility="flag")
    Run.objects.update(
        plausibility="flag",
        findings=[{"rule": "few-requests", "verdict": "flag", "point": 0, "message": "Only 3 requests."}],
    )
    answer = client.get("/compare/?model=kimik3")
    assert 'title="Only 3 requests.">flagged' in text(answer)
    assert "Only 3 requests." in json.dumps(figure_of(answer))
    assert 'title="Only 3 requests. ">flagged' in text(client.get(f"/runs/{Run.objects.get().pk}/"))


def test_what_else_differs_is_said_above_the_table(client: Client, runs: object) -> None:
    assert "Rows also differ in:" not in text(client.get("/compare/?chip=h200"))
    factory.store(factory.report(precision="fp4"))
    page = text(client.get("/compare/?chip=h200"))
    assert "Rows also differ in:</b> Precision (fp4, fp8)" in page
    factory.store(factory.report(lengths=(8192, 1024)))
    page = text(client.get("/compare/?chip=h200"))
    assert "Workload (1,024 / 1,024, serving, closed loop" in page
    assert "The rows shown also differ in:" in text(client.get("/compare/?chip=h200&rows=3"))


def test_the_page_says_what_ranks_and_which_runs_are_left_out(client: Client) -> None:
    factory.price("h200", "1.6")
    factory.store(factory.report(), factory.report(), factory.report(verification="failed"))
    page = text(client.get("/compare/?model=kimik3"))
    assert "Ranked by cost per M output tokens, lowest first" in page and "1 group, 2 runs each" in page
    assert '<th scope="col" class="n" aria-sort="ascending">' in page and "per M output tokens ↑" in page
    assert "1 left out" in page
    factory.store(factory.report(loop="open"))
    mixed = text(client.get("/compare/?model=kimik3"))
    assert "Ranked by" not in mixed and "Not ranked" in mixed and "1 to 2 runs each" in mixed


def test_asked_lengths_are_exact(client: Client) -> None:
    (run,) = factory.store(factory.report(lengths=(8192, 8000), context=8000))
    page = text(client.get(f"/runs/{run}/"))
    assert "8,192" in page and "8,000" in page and "8k" not in page


def test_money_in_yuan_names_rate_and_date(client: Client, runs: object) -> None:
    factory.rate("6.78")
    page = text(client.get("/compare/?model=kimik3&currency=CNY"))
    assert "¥ per M output tokens" in page and "1 USD = 6.78 CNY of 2026-06-22" in page


# ------------------------------------------------------------------------------------------------ runs


def test_the_list_is_searched_by_words(client: Client, runs: list[uuid.UUID]) -> None:
    found = {
        query: client.get("/runs/", {"q": query}).content.decode().count('<th scope="row">')
        for query in ("", "kimi", "kimi tpu", "megakernels", "night", str(runs[1]), "nothing-like-it", "a\0b")
    }
    assert found == {
        "": 4, "kimi": 4, "kimi tpu": 1, "megakernels": 1, "night": 1, str(runs[1]): 1, "nothing-like-it": 0, "a\0b": 0,
    }  # fmt: skip
    assert client.get("/runs/?evidence=published").content.decode().count('<th scope="row">') == 1


def test_pages_of_the_list_neither_repeat_nor_skip(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_site.present.run_list.PAGE", 3)
    stored = factory.store(*[factory.report(load=n) for n in range(1, 9)])
    seen: list[str] = []
    address = "/runs/"
    while address:
        page = client.get(address).content.decode()
        seen += re.findall(r'href="/runs/([0-9a-f-]{36})/"', page)
        following = re.search(r'href="(\?[^"]*after=[^"]*)"[^>]*rel="next"', page)
        address = "/runs/" + unescape(following.group(1)) if following else ""
    assert sorted(seen) == sorted(map(str, stored))


def test_a_run_shows_what_is_stored(client: Client) -> None:
    (run,) = factory.store(
        factory.report(
            source={"tool": "test", "command": "vllm bench serve --x 1", "url": "https://example.org/a"},
            notes="first line\nsecond <b>line</b>", loads=[(8, 0.02, 800.0)],
            speculative={"method": "mtp", "draft_tokens": 3, "acceptance_rate": 0.62, "acceptance_source": "measured"},
        )
    )  # fmt: skip
    answer = client.get(f"/runs/{run}/")
    page = text(answer)
    for said in (
        "Kimi K3 on H200 ×8", "vllm bench serve --x 1", "https://example.org/a", "62.0 %", "ms", str(run),
        "Time to first token", f"/api/v1/runs/{run}", "output verified",
    ):  # fmt: skip
        assert said in page, said
    assert "<b>line</b>" not in answer.content.decode()


def test_a_run_has_its_revision_and_states(client: Client, runs: list[uuid.UUID]) -> None:
    assert client.get(f"/runs/{runs[0]}/?revision=1").status_code == 200
    assert client.get(f"/runs/{runs[0]}/?revision=7").status_code == 404
    Run.objects.filter(pk=runs[0]).update(retracted_at=timezone.now(), retracted_reason="wrong driver")
    assert "wrong driver" in text(client.get(f"/runs/{runs[0]}/"))
    Run.objects.filter(pk=runs[0]).update(deleted_at=timezone.now())
    for address in (f"/runs/{runs[0]}/", f"/runs/{runs[0]}/raw/"):
        assert client.get(address).status_code == 410
    assert str(runs[0]) not in text(client.get("/runs/"))
    assert client.get(f"/runs/{uuid.uuid4()}/").status_code == 404


# ------------------------------------------------------------------------------------------------ hardware


def test_hardware_says_prices_runs_and_what_nobody_knows(client: Client, runs: object) -> None:
    Chip.objects.create(slug="newchip", name="New <chip>", known=False)
    page = client.get("/hardware/").content.decode()
    assert "$2.90/h" in page and "unknown" in page and "New &lt;chip&gt;" in page
    chip = text(client.get("/hardware/h200/"))
    assert "$2.90/h" in chip and "2026-04-03" in chip
    assert client.get("/hardware/nochip/").status_code == 404


# ------------------------------------------------------------------------------------------------ all pages

ADDRESSES: list[Callable[[list[uuid.UUID]], str]] = [
    lambda runs: "/compare/?model=kimik3",
    lambda runs: "/runs/",
    lambda runs: f"/runs/{runs[0]}/",
    lambda runs: "/hardware/",
    lambda runs: "/hardware/h200/",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_few_queries(
    address: Callable[[list[uuid.UUID]], str], client: Client, runs: list[uuid.UUID], django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(QUERIES):
        assert client.get(address(runs)).status_code == 200


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_every_page_has_one_heading_a_language_and_no_inline_script(
    address: Callable[[list[uuid.UUID]], str], language: str, client: Client, runs: list[uuid.UUID]
) -> None:
    answer = client.get(address(runs), headers={"Accept-Language": language})
    page = answer.content.decode()
    assert page.count("<h1") == 1
    assert f'<html lang="{"zh-Hans" if language == "zh-hans" else "en"}">' in page
    assert 'class="skip" href="#main"' in page
    for script in re.findall(r"<script\b([^>]*)>(.*?)</script>", page, re.S):
        assert "src=" in script[0] or 'type="application/json"' in script[0], script
    assert not re.search(r"<[^>]+\son[a-z]+\s*=", page), "an event handler in the markup"
    assert "<style" not in page and "javascript:" not in page
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self';" in policy + ";" and "unsafe-eval" not in policy


@pytest.mark.parametrize(
    "address", ["/hardware/%00/", "/hardware/a%00b/", "/runs/%00/", "/runs/?chip=%00&q=%00&tag=%00"]
)
def test_a_nul_in_an_address_is_no_error_of_the_site(client: Client, address: str) -> None:
    assert client.get(address).status_code in (200, 404)


def test_a_hostile_name_is_text_everywhere(client: Client) -> None:
    name = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    (run,) = factory.store(factory.report(chip=name, engine=name, machine=name, tags=[name], model=name))
    for address in ("/compare/?rows=10", "/runs/", f"/runs/{run}/", "/hardware/"):
        page = client.get(address, follow=True).content.decode()
        assert "<script>alert" not in page and "<img" not in page, address


def test_errors_are_pages_of_the_site(client: Client) -> None:
    answer = client.get("/nothing/here/")
    assert answer.status_code == 404 and "There is nothing at this address" in text(answer)
    assert client.post("/runs/").status_code == 405


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded; charset=utf-7", "multipart/form-data"])
def test_a_form_that_cannot_be_read_is_400(kind: str) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.get("/account/signin/")
    answer = client.generic("POST", "/account/signin/", b"username=%00&password=%ff", kind)
    assert answer.status_code == 400 and "cannot be understood" in text(answer)
