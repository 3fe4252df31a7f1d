"""An unknown chip or model turns out to be a known one: its configurations are re-keyed, and merged where they meet.

One transaction. The name becomes an alias, so later uploads go to the known entry; configurations, series and replicate
groups get the keys that they would have had with it. Where such a key exists already the two become one: the points of
both are replicates then. Everything touched is marked stale, and aggregation computes it anew.

Keys are made from the rows' own columns. Each old key is computed first and compared with the stored one: a column that
does not say all of an identity would otherwise silently split or join results.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from bench_site.runs.identity import (
    configuration_identity,
    group_keys,
    key_of,
    series_identity,
    sorted_pools,
)
from bench_site.runs.models import (
    Chip,
    ChipAlias,
    Configuration,
    ConfigurationPool,
    LanguageModel,
    ModelAlias,
    Point,
    Price,
    ReplicateGroup,
    Run,
    Series,
)
from bench_site.runs.models.words import LoadKind
from runners.contract import Report
from runners.contract.figures import Load
from runners.contract.figures import Point as ReportPoint
from runners.contract.ids import new_run_id
from runners.contract.report import Engine, Model, Parallelism, Pool, Precision, Speculative, Strategy, System
from runners.contract.vocabulary import AcceptanceSource, KernelStrategy, PoolRole


class CannotMap(ValueError):
    """The mapping is refused and nothing was changed; the text says why."""


@dataclass(slots=True)
class Mapped:
    """How much was re-keyed, and how much of it met something that was there."""

    runs: int = 0
    configurations: int = 0
    series: int = 0
    groups: int = 0
    merged: int = 0

    def __str__(self) -> str:
        return (
            f"{self.runs} runs: {self.configurations} configurations, {self.series} series, {self.groups} groups "
            f"re-keyed; {self.merged} of them merged into existing ones"
        )


@transaction.atomic
def map_chip(*, unknown: Chip, known: Chip) -> Mapped:
    """``unknown`` is ``known``: alias, re-key, merge; the unknown entry is gone. Raises CannotMap."""
    _check(unknown, known)
    _lock()
    days = Price.objects.filter(chip=known).values_list("tier", "valid_from")
    for price in Price.objects.filter(chip=unknown):
        if (price.tier, price.valid_from) in days:
            raise CannotMap(
                _("Both have a price in the tier %(tier)s from %(day)s; an administrator deletes one of the two first.")
                % {"tier": price.tier, "day": price.valid_from}
            )
    using = ConfigurationPool.objects.filter(chip=unknown).values("configuration")
    configurations = list(Configuration.objects.filter(pk__in=using).select_related("model").order_by("key"))
    done = _rekey(configurations, chip=(unknown, known))
    Price.objects.filter(chip=unknown).update(chip=known)
    ChipAlias.objects.filter(chip=unknown).update(chip=known)
    unknown.delete()
    ChipAlias.objects.update_or_create(slug=unknown.slug, defaults={"chip": known})
    return done


@transaction.atomic
def map_model(*, unknown: LanguageModel, known: LanguageModel) -> Mapped:
    """``unknown`` is ``known``: alias, re-key, merge; the unknown entry is gone. Raises CannotMap."""
    _check(unknown, known)
    _lock()
    configurations = list(Configuration.objects.filter(model=unknown).select_related("model").order_by("key"))
    done = _rekey(configurations, model=(unknown, known))
    ModelAlias.objects.filter(model=unknown).update(model=known)
    unknown.delete()
    ModelAlias.objects.update_or_create(slug=unknown.slug, defaults={"model": known})
    return done


def _check(unknown: Chip | LanguageModel, known: Chip | LanguageModel) -> None:
    if unknown.pk == known.pk:
        raise CannotMap(_("An entry cannot be mapped to itself."))
    if unknown.known:
        raise CannotMap(_("%(name)s is an entry of the catalogue; only unknown ones are mapped.") % {"name": unknown})
    if not known.known:
        raise CannotMap(_("%(name)s is unknown itself; enter it first (known = yes).") % {"name": known})


def _lock() -> None:
    """Uploads that make identities wait, in the order in which they make them; reading goes on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "LOCK TABLE runs_configuration, runs_configurationpool, runs_series, runs_replicategroup "
            "IN SHARE ROW EXCLUSIVE MODE"
        )


def _rekey(
    configurations: Iterable[Configuration],
    *,
    chip: tuple[Chip, Chip] | None = None,
    model: tuple[LanguageModel, LanguageModel] | None = None,
) -> Mapped:
    configurations = list(configurations)
    done = Mapped(runs=Run.objects.filter(configuration__in=configurations).count())
    for configuration in configurations:
        pools = list(configuration.pools.select_related("chip").order_by("position"))
        _expect(configuration.key, _configuration_key(configuration, pools), configuration)
        for pool in pools:
            if chip and pool.chip_id == chip[0].pk:
                pool.chip = chip[1]
        if model:
            configuration.model = model[1]
        old_key, new_key = configuration.key, _configuration_key(configuration, pools)
        target = Configuration.objects.filter(key=new_key).first()
        if target is None:
            target = configuration
            _store(configuration, pools, new_key)
        for series in configuration.series.select_related("workload").order_by("key"):
            _rekey_series(series, target, old_key, new_key, done)
        if target.pk != configuration.pk:
            Run.objects.filter(configuration=configuration).update(configuration=target)
            configuration.delete()
            done.merged += 1
        done.configurations += 1
    return done


def _store(configuration: Configuration, pools: list[ConfigurationPool], key: str) -> None:
    configuration.key = key
    configuration.chip_ids = sorted({pool.chip_id for pool in pools if pool.chip_id})
    configuration.save(update_fields=["key", "chip_ids", "model"])
    # The new name may sort elsewhere among the pools. Positions are unique, so the rows are made again.
    configuration.pools.all().delete()
    reported = [_pool(row) for row in pools]
    rows = dict(zip(map(id, reported), pools, strict=True))
    for position, pool in enumerate(sorted_pools(reported, str)):
        row = rows[id(pool)]
        row.pk, row.position = None, position
        row.save(force_insert=True)


def _rekey_series(series: Series, target: Configuration, old_key: str, new_key: str, done: Mapped) -> None:
    old, new = (_series_identity(series, key) for key in (old_key, new_key))
    _expect(series.key, key_of("series", old), series)
    home = Series.objects.filter(key=key_of("series", new)).first()
    if home is None:
        home = series
        series.key, series.configuration = key_of("series", new), target
        series.save(update_fields=["key", "configuration"])
    for group in series.groups.order_by("key"):
        parts = {
            name: getattr(group, name)
            for name in ("engine_version", "image_digest", "harness_version", "weights_digest")
        }
        _expect(group.key, group_keys(old, parts)[0], group)
        _move_group(group, home, *group_keys(new, parts), done)
    if home.pk != series.pk:
        series.delete()
        done.merged += 1
    Series.objects.filter(pk=home.pk).update(stale_since=timezone.now())
    done.series += 1


def _move_group(group: ReplicateGroup, home: Series, key: str, curve: str, done: Mapped) -> None:
    target = ReplicateGroup.objects.filter(key=key).first()
    if target is None:
        group.key, group.curve, group.series = key, curve, home
        group.save(update_fields=["key", "curve", "series"])
        Point.objects.filter(group=group).update(series=home)
    else:
        Point.objects.filter(group=group).update(group=target, series=home)
        group.delete()
        done.merged += 1
    done.groups += 1


def _expect(stored: str, computed: str, row: object) -> None:
    if stored != computed:
        raise CannotMap(f"The key of {row!r} does not follow from its columns; nothing was changed. This is a fault.")


def _configuration_key(configuration: Configuration, pools: list[ConfigurationPool]) -> str:
    return key_of("configuration", configuration_identity(_report(configuration, pools), str, str))


def _series_identity(series: Series, configuration_key: str) -> dict[str, object]:
    return series_identity(configuration_key, series.workload.key, _load(series), series.evidence, series.origin)


def _report(configuration: Configuration, pools: list[ConfigurationPool]) -> Report:
    """A report that has this configuration; chips and models are named by their slugs."""
    method = configuration.speculative
    speculative = Speculative(
        method=method,
        draft=configuration.draft or None,
        draft_tokens=configuration.draft_tokens,
        acceptance_source=AcceptanceSource(configuration.acceptance_source or AcceptanceSource.UNKNOWN),
    ) if method else None  # fmt: skip
    return Report(
        id=new_run_id(),
        system=System(pools=[_pool(pool) for pool in pools]),
        model=Model(
            name=configuration.model.slug if configuration.model else None,
            precision=Precision(
                weights=configuration.precision or None,
                kv_cache=configuration.precision_kv_cache or None,
                activations=configuration.precision_activations or None,
            ),
        ),
        engine=Engine(name=configuration.engine or None),
        strategy=Strategy(kernel=KernelStrategy(configuration.kernel), speculative=speculative),
        points=[ReportPoint()],
    )


def _pool(pool: ConfigurationPool) -> Pool:
    return Pool(
        role=PoolRole(pool.role),
        chip=pool.chip.slug if pool.chip else None,
        chips=pool.chips,
        nodes=pool.nodes,
        workers=pool.workers,
        parallelism=Parallelism.model_validate(pool.parallelism),
    )


def _load(series: Series) -> Load:
    kind, value, context = LoadKind(series.load_kind), series.load_value, series.context_tokens
    if kind is LoadKind.CONCURRENCY and value is not None:
        return Load(concurrency=int(value), context_tokens=context)
    if kind is LoadKind.BATCH_SIZE and value is not None:
        return Load(batch_size=int(value), context_tokens=context)
    if kind is LoadKind.REQUEST_RATE and value is not None:
        return Load(request_rate=value, context_tokens=context)
    return Load(unlimited=True if kind is LoadKind.UNLIMITED else None, context_tokens=context)
