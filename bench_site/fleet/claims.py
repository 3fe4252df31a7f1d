"""The public claims that the site brings along: reports of evidence ``claimed``, through the ordinary verb."""

from uuid import UUID, uuid5

from bench_site.fleet.accounts import system_user
from bench_site.fleet.tokens import caller_of_user
from bench_site.ingest.accept import accept_batch
from bench_site.ingest.refusals import Refusal
from bench_site.runs.catalogue.sheet import Row
from bench_site.runs.catalogue.sheets import read
from bench_site.runs.seed import Seeded
from runners.contract import Report
from runners.contract.figures import Distribution, Load, Metrics, Point, Rates
from runners.contract.report import Engine, Model, Pool, Source, Speculative, Strategy, System, Workload
from runners.contract.vocabulary import Evidence, KernelStrategy, WorkloadKind

#: Namespace of the claims' run ids; changing it would store every claim a second time.
CLAIM_NAMESPACE = UUID("0d4b6c1e-3c0a-5d0e-9a57-6d1f6f0c5a11")


def claim_id(key: str) -> UUID:
    """The run id of the claim with this key in claims.csv."""
    return uuid5(CLAIM_NAMESPACE, key)


def claim_report(row: Row) -> Report:
    """A row of claims.csv as a report. What the source does not say stays unknown."""
    pools = [Pool(chip=row["chip"], chips=row["chips"])] if row["chip"] else []
    tpot = Distribution(mean=row["tpot_s"]) if row["tpot_s"] else None
    return Report(
        id=claim_id(row["key"]),
        evidence=Evidence.CLAIMED,
        source=Source(name=f"{row['source']} ({row['published']})"),
        system=System(pools=pools, topology=row["system"]),
        model=Model(name=row["model"]),
        engine=Engine(name=row["engine"]),
        strategy=Strategy(
            kernel=KernelStrategy(row["kernel"]),
            speculative=Speculative(method=row["speculative"]) if row["speculative"] else None,
        ),
        workload=Workload(kind=WorkloadKind.DECODE),
        points=[
            Point(
                load=Load(concurrency=row["concurrency"]),
                metrics=Metrics(tpot=tpot, rates=Rates(output_tokens_per_s=row["output_tokens_per_s"])),
            )
        ],
        tags=["public claim"],
        notes=row["note"],
    )


def seed_claims() -> Seeded:
    """Store the claims that are not stored yet; one that was changed here since (or deleted) is kept as it is."""
    rows = read("claims")
    outcomes = accept_batch(reports=[claim_report(row) for row in rows], by=caller_of_user(system_user()))
    done = Seeded(added={"claims": 0})
    for row, outcome in zip(rows, outcomes, strict=True):
        if isinstance(outcome, Refusal):
            done.differs.append(f"claim {row['key']}: kept as it is stored ({outcome.problem.title})")
        elif outcome.outcome == "stored":
            done.added["claims"] += 1
    return done
