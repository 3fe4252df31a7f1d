"""The main job in a real browser: push by the command line, find the point, filter, share, take the CSV."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_site.present import csv
from tests.browser.reports import sweep
from tests.platform.live import LiveSite

PHONE = {"width": 390, "height": 844}
POINTS = """() => document.querySelector('#chart > div').data.filter(t => t.customdata)
    .flatMap(t => t.x.flatMap((x, i) => x === null ? [] : [[t.customdata[i][0], x, t.y[i]]]))"""


@pytest.fixture(scope="module")
def site(live_site: LiveSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    """The live site with three sweeps pushed by the command line."""
    token = live_site.home / "browser.token"
    live_site.manage("demotoken", "--path", str(token))
    folder = tmp_path_factory.mktemp("reports")
    for name, report in sweep():
        (folder / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")
    environment = {
        **os.environ, "FUSEBOARD_URL": live_site.url, "FUSEBOARD_TOKEN": token.read_text().strip(),
        "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder), "HOME": str(folder),
    }  # fmt: skip
    command = [str(Path(sys.executable).parent / "fuseboard"), "push", *map(str, sorted(folder.glob("*.json")))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    yield live_site


def address(site: LiveSite, query: str = "model=browsertest1&rows=100") -> str:
    return f"{site.url}/compare/?{query}"


def drawn(page: Any) -> None:
    page.wait_for_selector("#chart[data-drawn] .main-svg")


def points(page: Any) -> list[tuple[int, float, float]]:
    drawn(page)
    return sorted(tuple(point) for point in page.evaluate(POINTS))


def groups(page: Any) -> list[int]:
    return sorted(int(row.get_attribute("id")[1:]) for row in page.query_selector_all(".rank tbody tr"))


def wait_for_rows(page: Any, url: str, number: int) -> None:
    """Statistics are made by the worker: until they are there, load again."""
    for _ in range(60):
        page.goto(url)
        if page.locator(".rank tbody tr").count() == number:
            return
        page.wait_for_timeout(500)
    raise AssertionError(f"{url} does not show {number} rows")


def test_push_see_filter_share_export(site: LiveSite, page: Any, browser: Any) -> None:
    wait_for_rows(page, address(site), 9)
    assert [group for group, _x, _y in points(page)] == groups(page)

    page.locator("#s-chip").click()
    with page.expect_response(lambda answer: "chip=" in answer.url and answer.request.headers.get("hx-request")):
        page.locator("#f-chip label", has_text="H200").click()
    page.wait_for_url(re.compile("chip=h200"))
    page.wait_for_function("document.querySelectorAll('.rank tbody tr').length === 6")
    assert page.locator("#f-chip").get_attribute("open") is not None, "the menu in use stays open"
    page.keyboard.press("Escape")
    page.locator("#s-strategy").click()
    page.locator("#f-strategy label", has_text="graph capture").click()
    page.wait_for_url(re.compile("strategy=graph_capture"))
    page.wait_for_function("document.querySelectorAll('.rank tbody tr').length === 3")
    seen = points(page)
    assert len(seen) == 3

    # Whoever gets the address sees the same.
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    other = context.new_page()
    other.goto(page.url)
    assert points(other) == seen and groups(other) == groups(page)
    context.close()

    # And the CSV has the same numbers.
    link = page.locator("a[download]", has_text="CSV").get_attribute("href")
    with urllib.request.urlopen(site.url + link, timeout=30) as answer:
        rows = csv.parse(answer.read())
    shown = page.locator(".rank td.bar b").all_inner_texts()
    exact = [float(row["output_tokens_per_s_per_chip (tokens/s/chip)"] or 0) for row in rows]
    assert [float(text.replace(",", "")) for text in shown] == pytest.approx(exact, rel=0.005)
    assert sorted(y for _group, _x, y in seen) == pytest.approx(sorted(exact), rel=1e-4)


def test_reset_shows_everything_again(site: LiveSite, page: Any) -> None:
    page.goto(address(site, "model=browsertest1&strategy=megakernel"))
    assert page.locator(".rank tbody tr").count() == 3
    page.locator("a", has_text="Reset filters").click()
    page.wait_for_url(re.compile(r"/compare/\?"))
    assert "megakernel" not in page.url


def test_the_chart_is_walked_and_opened_by_keyboard(site: LiveSite, page: Any) -> None:
    page.goto(address(site))
    drawn(page)
    page.locator("#chart").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".hoverlayer .hovertext")
    first = page.locator("#chart-said").text_content()
    assert "tokens/s per user" in first
    page.keyboard.press("ArrowRight")
    assert page.locator("#chart-said").text_content() != first
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/runs/\?group=\d+"))
    assert page.locator("tbody tr").count() == 1


def test_a_click_on_a_point_finds_its_row(site: LiveSite, page: Any) -> None:
    page.goto(address(site))
    drawn(page)
    page.locator("#chart .points path").first.hover(force=True)
    page.wait_for_selector(".hoverlayer .hovertext")
    page.locator("#chart .points path").first.click(force=True)
    page.wait_for_selector("tr.here")


def test_theme_and_language_are_kept(site: LiveSite, page: Any) -> None:
    page.goto(address(site))
    drawn(page)
    before = page.evaluate("document.querySelector('#chart > div')._fullLayout.paper_bgcolor")
    page.locator("#theme").click()
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.querySelector('#chart > div')._fullLayout.paper_bgcolor") != before
    page.get_by_role("button", name="中文").click()
    page.wait_for_selector("html[lang='zh-Hans']")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "model=browsertest1" in page.url and page.locator("h2", has_text="排名").count() == 1


def test_png_is_made_here(site: LiveSite, page: Any) -> None:
    page.goto(address(site))
    drawn(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_hostile_name_neither_runs_nor_formats(site: LiveSite, page: Any) -> None:
    page.goto(address(site, "model=hostile&rows=10"))
    drawn(page)
    page.locator("#chart").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".hoverlayer .hovertext")
    assert page.locator("#chart a, #chart img").count() == 0
    assert "<a href=" in page.locator(".hoverlayer").text_content()


def test_without_scripts_the_table_is_there_and_the_form_works(site: LiveSite, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address(site))
    assert page.locator(".rank tbody tr").count() == 9
    assert "JavaScript" in page.locator("#chart").text_content()
    page.locator("#s-strategy").click()
    page.locator("#f-strategy input[value='megakernel']").check()
    page.get_by_role("button", name="Show", exact=True).click()
    assert "strategy=megakernel" in page.url and page.locator(".rank tbody tr").count() == 3
    context.close()


def pages(site: LiveSite) -> list[str]:
    with urllib.request.urlopen(f"{site.url}/runs/?q=browsertest", timeout=30) as answer:
        run = re.search(r"/runs/[0-9a-f-]{36}/", answer.read().decode())
    assert run
    return [address(site), f"{site.url}/runs/", site.url + run.group(), f"{site.url}/hardware/",
            f"{site.url}/hardware/h200sxm/", f"{site.url}/account/signin/"]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone_or_breaks_an_accessibility_rule(
    site: LiveSite, browser: Any, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport=PHONE, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    for url in pages(site):
        page.set_viewport_size(PHONE)
        page.goto(url)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            problems.append(f"{url} is {width} px wide")
        for size in (PHONE, {"width": 1440, "height": 1000}):
            page.set_viewport_size(size)
            found = Axe().run(page)
            if found.violations_count:
                problems.append(f"{url} at {size['width']} px: {found.generate_report()}")
    context.close()
    assert not problems, "\n".join(problems)


def test_chart_and_table_share_the_first_screen(site: LiveSite, page: Any) -> None:
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.goto(address(site))
    drawn(page)
    tops = page.evaluate(
        "[document.querySelector('#chart'), document.querySelectorAll('.rank tbody tr')[4]]"
        ".map(e => e.getBoundingClientRect().bottom)"
    )
    assert tops[0] < 700 and tops[1] <= 1000
    box = page.locator(".rank").bounding_box()
    assert box["x"] + box["width"] <= 1440, "the table fits beside nothing"


def test_the_api_is_described_in_the_browser(site: LiveSite, page: Any) -> None:
    page.goto(f"{site.url}/api/v1/docs")
    page.wait_for_selector(".opblock-summary-path")
    shown = page.locator(".opblock-summary-path").all_inner_texts()
    assert any("runs:batch" in path.replace("\u200b", "") for path in shown)


def test_a_run_is_one_column_on_a_phone(site: LiveSite, page: Any) -> None:
    page.set_viewport_size(PHONE)
    page.goto(next(url for url in pages(site) if re.search(r"/runs/[0-9a-f-]{36}/", url)))
    widths = page.evaluate("[...document.querySelectorAll('main .card')].map(e => e.getBoundingClientRect().width)")
    assert min(widths) > PHONE["width"] - 40


#: Cells of one card of the table that lie on each other.
OVERPRINTED = """() => [...document.querySelectorAll('.rank tbody tr')].slice(0, 9).flatMap(tr => {
    const texts = [...tr.children].map(td => {
        const range = document.createRange();
        range.selectNodeContents(td);
        return range.getBoundingClientRect();
    });
    const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
    const over = (a, b) => shared(a, b, 'left', 'right') > 1 && shared(a, b, 'top', 'bottom') > 4;
    return texts.flatMap((a, i) => texts.slice(i + 1).filter(b => over(a, b))).map(() => tr.innerText); })"""


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_a_phone_shows_figures_without_sideways_scrolling_or_overprinting(
    site: LiveSite, browser: Any, language: str
) -> None:
    context = browser.new_context(viewport=PHONE, locale=language)
    page = context.new_page()
    page.goto(address(site))
    assert page.evaluate(OVERPRINTED) == []
    page.goto(f"{site.url}/runs/?q=browsertest")
    card = page.locator(".runs tbody tr").first
    for cell in (3, 7):
        box = card.locator(f"td:nth-child({cell})").bounding_box()
        assert box["width"] > 0 and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    assert "H200" in page.locator(".runs").inner_text()
    context.close()


def test_the_address_names_its_prices_and_another_model_shows_results(site: LiveSite, page: Any) -> None:
    page.goto(address(site))
    page.wait_for_url(re.compile(r"book=[\w-]+@[\d-]+&currency=USD"))
    page.locator("#f-model").select_option("hostile")
    page.wait_for_url(re.compile("model=hostile"))
    page.wait_for_function("document.querySelector('h1').textContent.includes('ostile')")
    assert page.locator(".rank tbody tr").count() > 0
