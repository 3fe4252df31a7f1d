"""The four levels of identity (three of them tables; a curve is a key): configuration, series, replicate group, curve.

Each key is the sha256 of the canonical JSON of the identity, made by ``bench_site.runs.identity``. The plain columns
say the same in a form that can be filtered; a key is never taken apart.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from bench_site.runs.models.words import LoadKind, one_of, word_field
from runners.contract.vocabulary import AcceptanceSource, Evidence, KernelStrategy, Loop, PoolRole, WorkloadKind


class Key(models.CharField):
    """A sha256 in hex."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs["max_length"] = 64
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]


class Configuration(models.Model):
    """What was run: pools, engine, model, precisions, kernel strategy, speculative regime.

    ``chips`` counts the physical chips of all pools and is NULL if any pool's count is unknown. ``speculative`` is
    the method, "none" when it was off and "" when unknown.
    """

    key = Key(unique=True)
    model = models.ForeignKey("runs.LanguageModel", null=True, on_delete=models.PROTECT, related_name="configurations")
    engine = models.CharField(max_length=200, blank=True)
    precision = models.CharField(max_length=200, blank=True, help_text="Weights.")
    precision_kv_cache = models.CharField(max_length=200, blank=True)
    precision_activations = models.CharField(max_length=200, blank=True)
    kernel = word_field(KernelStrategy)
    speculative = models.CharField(max_length=200, blank=True)
    draft = models.CharField(max_length=200, blank=True)
    draft_tokens = models.BigIntegerField(null=True)
    acceptance_source = word_field(AcceptanceSource, blank=True)
    chips = models.BigIntegerField(null=True)
    chip_ids = ArrayField(models.BigIntegerField(), default=list, help_text="Of all pools; kept equal to them.")

    class Meta:
        constraints = [one_of(KernelStrategy, "kernel", "configuration_kernel_word")]
        indexes = [
            # Serves the compare page's filter by chip.
            GinIndex(fields=["chip_ids"], name="configuration_chip_ids"),
        ]


class ConfigurationPool(models.Model):
    """One pool of a configuration; ``chips`` physical, NULL when unknown."""

    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="pools", db_index=False)
    position = models.IntegerField()
    role = word_field(PoolRole)
    chip = models.ForeignKey("runs.Chip", null=True, on_delete=models.PROTECT, related_name="+")
    chips = models.BigIntegerField(null=True)
    nodes = models.BigIntegerField(null=True)
    workers = models.BigIntegerField(null=True)
    parallelism = models.JSONField(default=dict)

    class Meta:
        ordering = ["configuration", "position"]
        constraints = [
            models.UniqueConstraint(fields=["configuration", "position"], name="pool_position_once"),
            one_of(PoolRole, "role", "pool_role_word"),
        ]


class Workload(models.Model):
    """The shape of the load; lengths are tokens asked for, NULL when the tool does not fix them."""

    key = Key(unique=True)
    kind = word_field(WorkloadKind)
    loop = word_field(Loop)
    dataset = models.CharField(max_length=200, blank=True, help_text="Digest, else name.")
    dataset_name = models.CharField(max_length=200, blank=True)
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    prefix_cache = models.BooleanField(null=True)
    request_rate_cap = models.FloatField(null=True)

    class Meta:
        constraints = [
            one_of(WorkloadKind, "kind", "workload_kind_word"),
            one_of(Loop, "loop", "workload_loop_word"),
        ]


class Series(models.Model):
    """The line of a history: configuration x workload x load x evidence x origin.

    ``origin`` is the machine's name, or for what is not ours the source. ``stale_since`` is set in the transaction
    that stores or changes a run and cleared by aggregation if it has not moved meanwhile.
    """

    key = Key(unique=True)
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="series")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="series", db_index=False)
    load_kind = word_field(LoadKind)
    load_value = models.FloatField(null=True)
    context_tokens = models.BigIntegerField(null=True)
    evidence = word_field(Evidence)
    machine = models.ForeignKey("runs.Machine", null=True, on_delete=models.PROTECT, related_name="series")
    origin = models.CharField(max_length=300)
    newest_group = models.ForeignKey("runs.ReplicateGroup", null=True, on_delete=models.SET_NULL, related_name="+")
    stale_since = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "series"
        constraints = [
            one_of(LoadKind, "load_kind", "series_load_word"),
            one_of(Evidence, "evidence", "series_evidence_word"),
        ]
        indexes = [
            # Serves the sweep, which takes the longest waiting first.
            models.Index(fields=["stale_since"], condition=models.Q(stale_since__isnull=False), name="series_stale"),
            # Serves the compare page: the series of one workload's configurations.
            models.Index(fields=["workload", "configuration"], name="series_workload"),
        ]


class ReplicateGroup(models.Model):
    """The only set whose runs are replicates: series x engine version x image x harness and weights digest.

    ``curve`` is the key of the groups that agree in everything but the load's value.
    """

    key = Key(unique=True)
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="groups")
    engine_version = models.CharField(max_length=200, blank=True)
    image_digest = models.CharField(max_length=2_000, blank=True, help_text="Digest, else the image's name.")
    harness_version = models.CharField(max_length=200, blank=True)
    weights_digest = models.CharField(max_length=200, blank=True)
    curve = Key(db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)
