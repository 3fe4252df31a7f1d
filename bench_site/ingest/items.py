"""One report on its way into the tables: what it says, where it belongs, what the rules say about it."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from bench_site.ingest.catalogue import Catalogue
from bench_site.ingest.content import Content
from bench_site.ingest.plausibility import findings_of, worst
from bench_site.runs.identity import (
    Identity,
    configuration_identity,
    group_keys,
    group_parts,
    key_of,
    origin_of,
    series_identity,
    workload_identity,
)
from bench_site.runs.models.words import Plausibility
from runners.contract import Report
from runners.contract.figures import Load
from runners.contract.receipt import Finding, Receipt
from runners.contract.vocabulary import Status, VerificationStatus


@dataclass(frozen=True, slots=True)
class Place:
    """Where one point belongs: the keys of its series, replicate group and curve."""

    series: str
    group: str
    curve: str
    load: Load


@dataclass(slots=True)
class Item:
    """A normalised report and what is worked out about it, step by step, before it is written."""

    index: int
    report: Report
    content: Content
    raw_record: int | None
    scrubbed: bool = False
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    plausibility: Plausibility = Plausibility.ACCEPT
    configuration: Identity = field(default_factory=dict)
    configuration_key: str = ""
    workload_key: str = ""
    origin: str = ""
    group_parts: dict[str, str] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)

    def judge(self, catalogue: Catalogue, now: datetime) -> None:
        """Ask the rules of plausibility; what the file's adapter found stays first."""
        own = findings_of(self.report, bandwidth=catalogue.bandwidth, now=now)
        known = {(f.rule, f.point) for f in self.findings}
        self.findings += [f for f in own if (f.rule, f.point) not in known]
        self.plausibility = worst(self.findings)

    def locate(self, catalogue: Catalogue, uploader: str) -> None:
        """Work out the keys. A failed run's points have no figures: they belong to no series and get no row."""
        report = self.report
        self.configuration = configuration_identity(report, catalogue.chip_slug, catalogue.model_slug)
        self.configuration_key = _key("configuration", json.dumps(self.configuration))
        self.workload_key = _key("workload", json.dumps(workload_identity(report)))
        self.origin = origin_of(report, uploader)
        self.group_parts = group_parts(report)
        if report.status is Status.COMPLETED:
            parts = tuple(self.group_parts.items())
            common = (self.configuration_key, self.workload_key, report.evidence.value, self.origin, parts)
            self.places = [
                Place(*_place_keys(*common, load.model_dump_json()), load) for load in (p.load for p in report.points)
            ]

    def verdict(self, point: int) -> Plausibility:
        """The worst that the rules say about one point."""
        return worst(self.findings, point) if self.findings else Plausibility.ACCEPT

    def counts(self, point: int) -> bool:
        """Whether a point enters statistics, as long as its run is not retracted."""
        return (
            self.verdict(point) is not Plausibility.QUARANTINE
            and self.report.verification.status is not VerificationStatus.FAILED
        )

    def ask_for_near_names(self, catalogue: Catalogue) -> None:
        """Note which known chip or model an unknown one may have meant."""
        hints = catalogue.hints(self.report, option=self.report.id.version == 5)
        self.notes += [hint for hint in hints if hint not in self.notes]

    def receipt(self, outcome: str, catalogue: Catalogue, *, revision: int = 1) -> Receipt:
        """The receipt for this report."""
        chips, models = catalogue.unknown(self.report)
        return Receipt.model_construct(
            id=self.report.id,
            outcome=outcome,
            url=f"/runs/{self.report.id}/",
            revision=revision,
            points=len(self.report.points),
            plausibility=self.plausibility.value,
            findings=self.findings,
            unknown_chips=chips,
            unknown_models=models,
            notes=self.notes,
        )


# Keys are pure functions of what they are made from, so remembering them can never be wrong; the texts are the
# arguments because they can be hashed. Most uploads repeat the configuration, workload and loads of an earlier one.


@lru_cache(maxsize=4096)
def _key(kind: str, identity: str) -> str:
    return key_of(kind, json.loads(identity))


@lru_cache(maxsize=16384)
def _place_keys(
    configuration: str, workload: str, evidence: str, origin: str, parts: tuple[tuple[str, str], ...], load: str
) -> tuple[str, str, str]:
    """Of the series, the replicate group and the curve."""
    identity = series_identity(configuration, workload, Load.model_validate_json(load), evidence, origin)
    return (key_of("series", identity), *group_keys(identity, dict(parts)))
