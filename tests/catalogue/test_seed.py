"""The first content of a site: complete, sourced, inserted once, and never over an operator's correction."""

import re
from datetime import date
from decimal import Decimal

import pytest

from bench_site.runs.catalogue.sheets import CHIP_FACTS, read
from bench_site.runs.models import Chip, ChipAlias, ExchangeRate, LanguageModel, ModelAlias, Price
from bench_site.runs.models.catalogue import slug_of
from bench_site.runs.seed import seed_catalogue

TABLES = (Chip, ChipAlias, LanguageModel, ModelAlias, Price, ExchangeRate)


def counts() -> list[int]:
    return [table._default_manager.count() for table in TABLES]


@pytest.mark.django_db
def test_seeding_twice_changes_nothing() -> None:
    first = seed_catalogue()
    after_first = counts()
    second = seed_catalogue()
    assert first.added["chips"] > 20 and not first.differs
    assert not any(second.added.values()) and not second.differs
    assert counts() == after_first


@pytest.mark.django_db
def test_every_fact_of_a_chip_or_model_has_a_source() -> None:
    seed_catalogue()
    for chip in Chip.objects.all():
        facts = {name for name, _, _ in CHIP_FACTS.values() if getattr(chip, name) is not None}
        assert set(chip.sources) == facts and all(chip.sources.values()), chip
    for model in LanguageModel.objects.all():
        assert bool(model.source) == (model.parameters_total is not None), model
    assert all(price.source for price in Price.objects.all())
    assert all(rate.source for rate in ExchangeRate.objects.all())


def test_no_figure_is_zero_and_sources_are_public() -> None:
    for sheet in ("chips", "models", "prices", "exchange_rates", "claims"):
        for row in read(sheet):
            assert 0 not in [value for value in row.values() if isinstance(value, (int, float, Decimal))]
            texts = " ".join(value for value in row.values() if isinstance(value, str))
            assert not re.search(r"find_string|file id|stored (copy|corpora|source)|task brief|/work/", texts), texts


@pytest.mark.django_db
def test_figures_are_in_the_units_of_the_tables() -> None:
    seed_catalogue()
    h200, tpu = Chip.objects.get(slug="h200sxm"), Chip.objects.get(slug="tpuv7")
    assert (h200.memory_bytes, h200.bandwidth, h200.bf16_flops) == (141e9, 4.8e12, 989e12)
    assert (h200.tdp_watts, h200.all_in_watts) == (700, 1370)
    assert (tpu.memory_bytes, tpu.bandwidth, tpu.tdp_watts) == (192 * 2**30, 7.38e12, None)
    assert Chip.objects.get(slug="ascend910b").bandwidth is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("written", "chip"),
    [
        ("h200", "H200 SXM"),
        ("NVIDIA H200", "H200 SXM"),
        ("H200 SXM", "H200 SXM"),
        ("NVIDIA-H100-80GB-HBM3", "H100 SXM"),
        ("mi355x", "MI355X"),
        ("AMD Instinct MI300X 192GB HBM3", "MI300X"),
        ("b200", "B200 SXM"),
        ("gb200", "GB200 NVL72"),
        ("950dt", "Ascend 950DT"),
        ("TPU v7", "TPU v7"),
        ("tpu7x", "TPU v7"),
        ("Ironwood", "TPU v7"),
        ("Ascend 910B3", "Ascend 910B"),
        ("昇腾910B", "Ascend 910B"),
        ("元脑 SD200 Ultra", "SD200 Ultra"),
    ],
)
def test_files_find_their_chip_under_the_names_they_use(written: str, chip: str) -> None:
    seed_catalogue()
    slug = slug_of(written)
    found = Chip.objects.filter(slug=slug).first() or ChipAlias.objects.get(slug=slug).chip
    assert found.name == chip


@pytest.mark.parametrize("kind", ["chip", "model"])
def test_an_alias_stands_for_one_entry_and_is_no_entry_itself(kind: str) -> None:
    names = {slug_of(row["name"]): row["name"] for row in read(f"{kind}s")}
    aliases = [row for row in read("aliases") if row["kind"] == kind]
    slugs = [slug_of(row["alias"]) for row in aliases]
    assert len(slugs) == len(set(slugs))
    assert not set(slugs) & set(names)
    assert {slug_of(row["name"]) for row in aliases} <= set(names)


@pytest.mark.django_db
def test_an_operators_correction_stays_and_is_reported() -> None:
    seed_catalogue()
    Chip.objects.filter(slug="h200sxm").update(bandwidth=4.9e12, notes="measured here")
    Price.objects.filter(chip__slug="h200sxm", tier="rental", valid_from=date(2026, 9, 1)).update(
        amount_per_chip_hour=Decimal("3.10")
    )
    mi355x = Chip.objects.get(slug="mi355x")
    ChipAlias.objects.filter(slug="ironwood").update(chip=mi355x)
    again = seed_catalogue()
    assert not any(again.added.values())
    assert Chip.objects.get(slug="h200sxm").bandwidth == 4.9e12
    assert ChipAlias.objects.get(slug="ironwood").chip == mi355x
    assert len(again.differs) == 3
    assert any("H200 SXM bandwidth: 4.9e+12 is stored and kept" in line for line in again.differs)
    assert any("3.1 USD is stored and kept" in line and "2.90 USD" in line for line in again.differs)
    assert any("'Ironwood' stands for MI355X" in line for line in again.differs)


@pytest.mark.django_db
def test_a_chip_that_an_upload_met_first_gets_the_catalogues_facts() -> None:
    Chip.objects.create(slug="mi325x", name="mi325x", known=False)
    Chip.objects.create(slug="h200", name="h200", known=False)
    done = seed_catalogue()
    mi325x = Chip.objects.get(slug="mi325x")
    assert mi325x.known and mi325x.name == "MI325X" and mi325x.bandwidth == 6e12
    assert any("map_chip" in line and "'H200'" in line for line in done.differs)
