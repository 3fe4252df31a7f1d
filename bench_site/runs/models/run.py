"""A run, its revisions, its points and their samples."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from bench_site.runs.models.identity import Key
from bench_site.runs.models.words import Plausibility, one_of, word_field
from runners.contract.vocabulary import Evidence, Status, VerificationStatus


class Run(models.Model):
    """One run as it stands now; ``revision`` says which Revision holds its report.

    ``retracted_at``: stays readable, has left all statistics. ``deleted_at``: a tombstone; the id answers 410.
    """

    id = models.UUIDField(primary_key=True)
    revision = models.IntegerField(default=1)
    content_sha256 = Key()
    status = word_field(Status)
    evidence = word_field(Evidence)
    verification = word_field(VerificationStatus)
    plausibility = word_field(Plausibility)
    findings = models.JSONField(default=list)
    configuration = models.ForeignKey("runs.Configuration", on_delete=models.PROTECT, related_name="runs")
    workload = models.ForeignKey("runs.Workload", on_delete=models.PROTECT, related_name="runs")
    machine = models.ForeignKey("runs.Machine", null=True, on_delete=models.PROTECT, related_name="runs")
    experiment_id = models.UUIDField(null=True)
    experiment_kind = models.CharField(max_length=20, blank=True)
    tool = models.CharField(max_length=200, blank=True)
    tool_version = models.CharField(max_length=200, blank=True)
    engine_version = models.CharField(max_length=200, blank=True)
    image = models.CharField(max_length=2_000, blank=True)
    image_digest = models.CharField(max_length=200, blank=True)
    source_name = models.CharField(max_length=2_000, blank=True)
    source_url = models.CharField(max_length=2_000, blank=True)
    started_at = models.DateTimeField(null=True)
    started_at_text = models.CharField(max_length=200, blank=True)
    finished_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField()
    uploaded_by = models.ForeignKey("runs.User", null=True, on_delete=models.SET_NULL, related_name="runs")
    # No index on these: nothing asks for the runs of a token, and each index is paid for by every push.
    token = models.ForeignKey("runs.Token", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    raw_file = models.ForeignKey("runs.RawFile", null=True, on_delete=models.PROTECT, related_name="runs")
    raw_record = models.IntegerField(null=True)
    tags = ArrayField(models.CharField(max_length=200), default=list)
    retracted_at = models.DateTimeField(null=True)
    retracted_by = models.ForeignKey(
        "runs.User", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    retracted_reason = models.TextField(blank=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            one_of(Status, "status", "run_status_word"),
            one_of(Evidence, "evidence", "run_evidence_word"),
            one_of(VerificationStatus, "verification", "run_verification_word"),
            one_of(Plausibility, "plausibility", "run_plausibility_word"),
        ]
        indexes = [
            # Serves the list of runs, newest first, and its pages.
            models.Index(fields=["-received_at", "id"], name="run_newest"),
            # Serves "the runs made together" on a run's page.
            models.Index(
                fields=["experiment_id"], condition=models.Q(experiment_id__isnull=False), name="run_experiment"
            ),
            # Serves the list's filter by tag.
            GinIndex(fields=["tags"], name="run_tags"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Revision(models.Model):
    """The report as it was accepted, without samples and rounds (those lie in Samples)."""

    # The unique constraint's index finds a run's revisions.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    number = models.IntegerField()
    report = models.JSONField()
    content_sha256 = Key()
    created_at = models.DateTimeField()
    created_by = models.ForeignKey("runs.User", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    token = models.ForeignKey("runs.Token", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="revision_once")]


class Point(models.Model):
    """One load of a run. Columns are the core figures in the contract's units, NULL where unknown; ``detail`` is the
    point's JSON as reported (without samples and rounds), where the rest is read from.

    Only points with ``counts`` enter statistics: not quarantined, verification not failed, run not retracted.
    """

    # Their indexes are named below; the unique constraint's finds a run's points.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="points", db_index=False)
    index = models.IntegerField()
    series = models.ForeignKey("runs.Series", on_delete=models.PROTECT, related_name="points", db_index=False)
    group = models.ForeignKey("runs.ReplicateGroup", on_delete=models.PROTECT, related_name="points", db_index=False)
    counts = models.BooleanField()
    plausibility = word_field(Plausibility)
    duration = models.FloatField(null=True)
    concurrency_measured = models.FloatField(null=True)
    requests_sent = models.BigIntegerField(null=True)
    requests_completed = models.BigIntegerField(null=True)
    requests_failed = models.BigIntegerField(null=True)
    input_tokens_mean = models.FloatField(null=True)
    output_tokens_mean = models.FloatField(null=True)
    ttft_mean = models.FloatField(null=True)
    ttft_p50 = models.FloatField(null=True)
    ttft_p90 = models.FloatField(null=True)
    ttft_p99 = models.FloatField(null=True)
    tpot_mean = models.FloatField(null=True)
    tpot_p50 = models.FloatField(null=True)
    tpot_p90 = models.FloatField(null=True)
    tpot_p99 = models.FloatField(null=True)
    itl_mean = models.FloatField(null=True)
    itl_p50 = models.FloatField(null=True)
    itl_p99 = models.FloatField(null=True)
    e2el_mean = models.FloatField(null=True)
    e2el_p50 = models.FloatField(null=True)
    e2el_p90 = models.FloatField(null=True)
    e2el_p99 = models.FloatField(null=True)
    output_tokens_per_s = models.FloatField(null=True)
    input_tokens_per_s = models.FloatField(null=True)
    total_tokens_per_s = models.FloatField(null=True)
    requests_per_s = models.FloatField(null=True)
    detail = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="point_once")]
        indexes = [
            # Serves aggregation: all counting points of a group.
            models.Index(fields=["group"], name="point_group"),
            # Serves a series' history.
            models.Index(fields=["series"], name="point_series"),
        ]


class Samples(models.Model):
    """Per-request samples and per-round figures of one point: zstd of JSON columns as in the contract."""

    point = models.OneToOneField(Point, on_delete=models.CASCADE, primary_key=True, related_name="samples")
    rows = models.IntegerField()
    data = models.BinaryField()
