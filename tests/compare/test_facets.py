"""Options with counts under the other filters, filters in words, names that an address may use."""

import pytest

from bench_site.compare.catalogue import load_catalogue, workload_slug
from bench_site.compare.comparison import compare
from bench_site.compare.selection import Selection, parse
from bench_site.runs.models import ChipAlias, Workload
from tests.compare import factory as made

pytestmark = pytest.mark.django_db


def counts(selection: Selection, facet: str) -> dict[str, int]:
    return {option.value: option.count for option in compare(selection).options[facet]}


@pytest.fixture
def three() -> None:
    made.store(
        made.report(chip="h200", kernel="megakernel", speculative={"method": "MTP", "draft_tokens": 2}),
        made.report(chip="h200", kernel="graph_capture", engine="SGLang"),
        made.report(chip="mi355x", kernel="graph_capture", machine=None, context=4096, precision=None),
    )


@pytest.mark.usefixtures("three")
def test_an_option_counts_what_it_would_show_under_the_other_filters() -> None:
    assert counts(Selection(), "chip") == {"h200": 2, "mi355x": 1}
    h200 = Selection(chip=("h200",))
    assert counts(h200, "chip") == {"h200": 2, "mi355x": 1}  # its own filter aside
    assert counts(h200, "strategy") == {"graph_capture": 1, "megakernel": 1}
    both = Selection(chip=("h200",), strategy=("graph_capture",))
    assert counts(both, "chip") == {"h200": 1, "mi355x": 1}
    assert counts(both, "strategy") == {"graph_capture": 1, "megakernel": 1}
    assert counts(both, "engine") == {"sglang": 1}
    for facet in compare(Selection()).options:
        for option in compare(Selection()).options[facet]:
            shown = compare(parse({facet: option.value})).total_rows
            assert shown == option.count, (facet, option)


@pytest.mark.usefixtures("three")
def test_unknown_is_an_option_and_so_is_any_speculation() -> None:
    assert counts(Selection(), "precision") == {"fp8": 2, "unknown": 1}
    assert counts(Selection(), "speculative") == {"none": 2, "on": 1, "mtp": 1}
    assert compare(parse({"speculative": "on"})).total_rows == 1
    assert compare(parse({"speculative": ["on", "none"]})).total_rows == 3
    assert compare(parse({"speculative": "unknown"})).total_rows == 0
    assert counts(Selection(), "context") == {"none": 2, "4096": 1}
    assert counts(Selection(), "machine") == {"node-1": 2}
    assert compare(parse({"context": "none"})).total_rows == 2


@pytest.mark.usefixtures("three")
def test_a_chosen_option_stays_in_the_list_when_nothing_matches() -> None:
    found = compare(parse({"chip": "mi355x", "strategy": "megakernel"}))
    assert found.total_rows == 0
    assert [(o.value, o.count) for o in found.options["chip"] if o.selected] == [("mi355x", 0)]
    assert [(o.value, o.count) for o in found.options["strategy"] if o.selected] == [("megakernel", 0)]


@pytest.mark.usefixtures("three")
def test_filters_in_words_and_vendors() -> None:
    found = compare(parse({"vendor": "nvidia", "chip": ["h200", "mi355x"], "per": "20", "workload": "serving"}))
    assert found.words == [
        "Workload: 1,024 / 1,024, serving, closed loop", "Chip: H200 or MI355X", "Vendor: NVIDIA",
        "at least 20 tokens/s per user",
    ]  # fmt: skip
    assert found.total_rows == 2
    assert [(o.label, o.selected) for o in found.options["vendor"]] == [("AMD", False), ("NVIDIA", True)]


@pytest.mark.usefixtures("three")
def test_an_alias_names_its_chip_and_an_unknown_name_is_said() -> None:
    ChipAlias.objects.create(slug="h200sxm", chip=made.catalogue()["h200"])
    found = compare(parse({"chip": ["H200 SXM", "h20"], "machine": "nowhere"}))
    assert {option.value for option in found.options["chip"] if option.selected} == {"h200", "h20"}
    assert any("h20" in note for note in found.notes) and any("nowhere" in note for note in found.notes)


def test_workload_slugs_are_readable_and_name_one_workload() -> None:
    assert workload_slug("serving", "closed", "", "", 1024, 1024, None, None) == "serving-closed-1024-1024"
    assert workload_slug("decode", "single", "", "", None, 256, True, None) == "decode-single-any-256-cached"
    long = workload_slug("serving", "open", "sha256:" + "ab" * 32, "Share GPT", None, None, False, 2.5)
    assert long == "serving-open-any-any-share-gpt-abababab-uncached-cap2.5"
    for number, name in enumerate(["Share GPT", "share-gpt", "other"]):
        Workload.objects.create(
            key=f"{number}" * 64, kind="serving", loop="closed", dataset=name, dataset_name=name, input_tokens=8
        )
    catalogue = load_catalogue()
    slugs = {one.slug for one in catalogue.workloads.values()}
    assert slugs == {
        "serving-closed-8-any-share-gpt-00000000", "serving-closed-8-any-share-gpt-11111111",
        "serving-closed-8-any-other",
    }  # fmt: skip
    ids, unclear = catalogue.workload_ids(["serving-closed-8-any-other", "serving-closed-8-any-share-gpt", "x"])
    assert len(ids) == 1 and set(unclear) == {"serving-closed-8-any-share-gpt", "x"}
    assert len(unclear["serving-closed-8-any-share-gpt"]) == 2 and not unclear["x"]
