"""An unknown chip or model that is mapped leaves the site as if its uploads had named the known one all along."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bench_site.aggregate.sweep import sweep
from bench_site.fleet.tokens import caller_of_user
from bench_site.ingest.accept import accept_report
from bench_site.runs.models import (
    Chip,
    ChipAlias,
    Configuration,
    ConfigurationPool,
    GroupStatistic,
    LanguageModel,
    ModelAlias,
    Point,
    ReplicateGroup,
    Run,
    Series,
    User,
)
from bench_site.runs.remap import CannotMap, map_chip, map_model
from runners.contract import Report
from runners.contract.ids import new_run_id

pytestmark = pytest.mark.django_db


@pytest.fixture
def uploader() -> User:
    Chip.objects.create(slug="h200sxm", name="H200 SXM")
    LanguageModel.objects.create(slug="kimik3", name="Kimi K3")
    return User.objects.create_user("ann")


def push(uploader: User, chip: str, *, model: str = "Kimi K3", other: str = "H200 SXM", **changes: Any) -> Run:
    base: dict[str, Any] = {
        "id": str(new_run_id()),
        "system": {
            "machine": "rack-7",
            "pools": [
                {"role": "prefill", "chip": chip, "chips": 8, "nodes": 1, "parallelism": {"tp": 8}},
                {"role": "prefill", "chip": other, "chips": 4, "parallelism": {"tp": 4, "dp": 2}},
                {"role": "decode", "chip": chip, "chips": 16},
            ],
        },
        "model": {"name": model, "precision": {"weights": "INT4", "kv_cache": "fp8"}},
        "engine": {"name": "vLLM", "version": "0.21.0", "image": "vllm/vllm-openai:v0.21.0"},
        "strategy": {
            "kernel": "graph_capture",
            "speculative": {"method": "MTP", "draft": "Small One", "draft_tokens": 3, "acceptance_source": "measured"},
        },
        "workload": {"kind": "serving", "loop": "open", "input_tokens": 1024, "prefix_cache": False},
        "points": [
            {"load": {"concurrency": 4, "context_tokens": 100}, "metrics": {"rates": {"output_tokens_per_s": 100}}},
            {"load": {"request_rate": 2.5}, "metrics": {"rates": {"output_tokens_per_s": 200.5}}},
            {"load": {"unlimited": True}, "metrics": {"rates": {"output_tokens_per_s": 300}}},
            {"load": {"batch_size": 8}, "metrics": {"rates": {"output_tokens_per_s": 400}}},
            {"metrics": {"rates": {"output_tokens_per_s": 500}}},
        ],
    }
    report = Report.model_validate(base | changes)
    accept_report(report=report, by=caller_of_user(uploader))
    return Run.objects.get(pk=report.id)


def places(run: Run) -> list[tuple[int, int, int, int]]:
    rows = Point.objects.filter(run=run).order_by("index").select_related("series")
    return [(run.configuration_id, p.series.configuration_id, p.series_id, p.group_id) for p in rows]


def test_a_mapped_chip_joins_later_runs_with_its_own(uploader: User) -> None:
    before = push(uploader, "Lab chip 9")
    unknown = Chip.objects.get(known=False)
    done = map_chip(unknown=unknown, known=Chip.objects.get(slug="h200sxm"))
    assert (done.runs, done.configurations, done.series, done.groups, done.merged) == (1, 1, 5, 5, 0)
    assert not Chip.objects.filter(known=False).exists()
    assert ChipAlias.objects.get(slug="labchip9").chip.slug == "h200sxm"
    before.refresh_from_db()
    by_alias, by_name = push(uploader, "lab-chip-9"), push(uploader, "H200 SXM")
    assert places(before) == places(by_alias) == places(by_name)
    assert Configuration.objects.count() == 1 and Series.objects.count() == 5 and ReplicateGroup.objects.count() == 5
    pools = ConfigurationPool.objects.order_by("position")
    assert [pool.position for pool in pools] == [0, 1, 2]
    assert {pool.chip.slug for pool in pools if pool.chip} == {"h200sxm"}
    assert Configuration.objects.get().chip_ids == [Chip.objects.get().pk]


def test_results_of_both_names_are_merged_and_computed_anew(uploader: User) -> None:
    known = push(uploader, "H200 SXM")
    unknown = push(uploader, "Lab chip 9")
    alone = push(uploader, "Lab chip 9", points=[{"load": {"concurrency": 64}}])
    sweep()
    assert set(GroupStatistic.objects.values_list("runs", flat=True)) == {1}
    done = map_chip(unknown=Chip.objects.get(known=False), known=Chip.objects.get(slug="h200sxm"))
    assert done.runs == 2 and done.merged == 11  # one configuration, five series, five groups
    known.refresh_from_db()
    unknown.refresh_from_db()
    alone.refresh_from_db()
    assert places(known) == places(unknown)
    assert alone.configuration_id == known.configuration_id
    assert Series.objects.count() == 6 and not Series.objects.filter(stale_since=None).exists()
    sweep()
    assert sorted(GroupStatistic.objects.values_list("runs", flat=True)) == [1, 2, 2, 2, 2, 2]


def test_a_mapped_model_is_rekeyed_too(uploader: User) -> None:
    before = push(uploader, "H200 SXM", model="k3-internal")
    known = push(uploader, "H200 SXM")
    map_model(unknown=LanguageModel.objects.get(known=False), known=LanguageModel.objects.get(slug="kimik3"))
    before.refresh_from_db()
    assert places(before) == places(known) == places(push(uploader, "H200 SXM", model="K3 internal"))
    assert ModelAlias.objects.get().slug == "k3internal" and LanguageModel.objects.count() == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"strategy": {"kernel": "megakernel", "speculative": {"method": "none"}}},
        {"strategy": {"kernel": "unknown"}},
        {"engine": {}, "workload": {}},
        {"system": {"pools": [{"chip": "Lab chip 9"}]}, "evidence": "published", "source": {"name": "a page"}},
        {"points": [{"load": {"request_rate": 0.1}}, {"load": {"concurrency": 4096, "context_tokens": 0}}]},
    ],
)
def test_the_columns_say_all_of_an_identity(uploader: User, changes: dict[str, Any]) -> None:
    before = push(uploader, "Lab chip 9", **changes)
    map_chip(unknown=Chip.objects.get(known=False), known=Chip.objects.get(slug="h200sxm"))
    before.refresh_from_db()
    assert places(before) == places(push(uploader, "Lab chip 9", **changes))


def test_two_unknown_chips_can_become_one(uploader: User) -> None:
    one, two = push(uploader, "Lab chip 9"), push(uploader, "Lab chip 9b", other="Lab chip 9")
    for name in ("Lab chip 9", "Lab chip 9b"):
        call_command("map_chip", name, "H200 SXM", stdout=StringIO())
    one.refresh_from_db()
    two.refresh_from_db()
    assert places(one) == places(two) and Configuration.objects.count() == 1


def test_a_column_that_does_not_say_the_identity_stops_the_mapping(uploader: User) -> None:
    run = push(uploader, "Lab chip 9")
    Configuration.objects.update(engine="something else")
    before = places(run)
    with pytest.raises(CannotMap, match="does not follow from its columns"):
        map_chip(unknown=Chip.objects.get(known=False), known=Chip.objects.get(slug="h200sxm"))
    assert places(run) == before and Chip.objects.filter(known=False).exists()


def test_senseless_mappings_are_refused(uploader: User) -> None:
    push(uploader, "Lab chip 9")
    known, unknown = Chip.objects.get(slug="h200sxm"), Chip.objects.get(known=False)
    for wrong in ((known, known), (known, unknown), (unknown, unknown)):
        with pytest.raises(CannotMap):
            map_chip(unknown=wrong[0], known=wrong[1])
    with pytest.raises(CommandError, match=r"There is no chip 'H20'; nearest: H200 SXM"):
        call_command("map_chip", "Lab chip 9", "H20")
    with pytest.raises(CommandError, match="There is no model 'x'"):
        call_command("map_model", "x", "Kimi K3")
