"""The public claims: as stated, marked as claims, stored once, never a number that nobody said."""

from io import StringIO

import pytest
from django.core.management import call_command

from bench_site.fleet.claims import claim_id, claim_report, seed_claims
from bench_site.runs.catalogue.sheets import read
from bench_site.runs.models import Chip, LanguageModel, Point, Run, User
from runners.contract.vocabulary import Evidence


@pytest.mark.django_db
def test_the_demo_seed_twice_stores_each_claim_once() -> None:
    out = StringIO()
    call_command("seed", "--demo", stdout=out)
    call_command("seed", "--demo", stdout=out)
    assert Run.objects.count() == 7 and set(Run.objects.values_list("evidence", flat=True)) == {"claimed"}
    assert "7 claims added" in out.getvalue() and "nothing new among claims" in out.getvalue()
    # Every chip and model that a claim names is in the catalogue.
    assert not Chip.objects.filter(known=False).exists() and not LanguageModel.objects.filter(known=False).exists()
    uploader = Run.objects.values_list("uploaded_by", flat=True).distinct().get()
    system = User.objects.get(pk=uploader)
    assert system.username == "fuseboard" and not system.is_active and not system.has_usable_password()


@pytest.mark.django_db
def test_a_claim_that_was_amended_here_stays_amended() -> None:
    seed_claims()
    Run.objects.filter(pk=claim_id("glm-5.3-highspeed")).update(content_sha256="0" * 64)
    again = seed_claims()
    assert again.added == {"claims": 0}
    assert len(again.differs) == 1 and "glm-5.3-highspeed" in again.differs[0]


@pytest.mark.django_db
def test_figures_are_as_stated_and_unknown_otherwise() -> None:
    call_command("seed", "--demo", stdout=StringIO())
    point = {key: Point.objects.get(run=claim_id(key)) for key in (row["key"] for row in read("claims"))}
    inspur = point["inspur-sd200-ultra"]
    assert (inspur.tpot_mean, inspur.output_tokens_per_s, inspur.tpot_p50) == (0.00585, 170, None)
    assert inspur.series.configuration.chips == 128 and inspur.series.configuration.kernel == "super_operator"
    assert inspur.series.configuration.speculative == ""
    low = point["inferact-tpu-v7-dspark"]
    assert (low.tpot_mean, low.output_tokens_per_s) == (None, 709)
    assert (low.series.load_kind, low.series.load_value) == ("unknown", None)
    assert low.series.configuration.kernel == "megakernel" and low.series.configuration.speculative == "dspark"
    vllm = point["vllm-gb200-speculative"].series.configuration
    assert vllm.kernel == "unknown" and vllm.chips == 16
    assert point["unoptimised-supernode"].series.configuration.chips is None
    assert point["glm-5.3-highspeed"].tpot_mean == pytest.approx(1 / 490)


def test_claims_keep_their_ids_and_class() -> None:
    assert str(claim_id("inspur-sd200-ultra")) == "07a4bdad-9111-55bf-9212-bbe50bc3727c"
    for row in read("claims"):
        report = claim_report(row)
        assert report.evidence is Evidence.CLAIMED and report.source.name and report.started_at is None
