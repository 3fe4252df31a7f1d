"""What a group's runs say together, computed at write time so that pages never scan points."""

from django.db import models

from bench_site.runs.models.words import Plausibility, word_field
from runners.contract.vocabulary import VerificationStatus


class GroupStatistic(models.Model):
    """Median over a group's runs and its 95 % interval, per metric; NULL where unknown or (interval) n is too small.

    The columns are the figures that the compare page ranks and draws; ``figures`` holds every metric as
    ``{name: [median, low, high, n]}``. ``verification`` is the weakest among the runs that count, ``plausibility`` the
    worst. ``interactivity_from`` says whether it is 1 / TPOT p50 or, where p50 is missing, 1 / mean TPOT.
    ``first_run_at`` and ``last_run_at`` are known starts: NULL where no run says when it started.
    """

    group = models.OneToOneField(
        "runs.ReplicateGroup", on_delete=models.CASCADE, primary_key=True, related_name="statistic"
    )
    runs = models.IntegerField(help_text="Runs that count.")
    runs_left_out = models.IntegerField(default=0, help_text="Quarantined, failed in verification, or retracted.")
    first_run_at = models.DateTimeField(null=True)
    last_run_at = models.DateTimeField(null=True)
    verification = word_field(VerificationStatus)
    plausibility = word_field(Plausibility)
    interactivity_from = models.CharField(max_length=10, blank=True)
    interactivity = models.FloatField(null=True)
    interactivity_low = models.FloatField(null=True)
    interactivity_high = models.FloatField(null=True)
    output_tokens_per_s = models.FloatField(null=True)
    output_tokens_per_s_low = models.FloatField(null=True)
    output_tokens_per_s_high = models.FloatField(null=True)
    output_tokens_per_s_per_chip = models.FloatField(null=True)
    output_tokens_per_s_per_chip_low = models.FloatField(null=True)
    output_tokens_per_s_per_chip_high = models.FloatField(null=True)
    total_tokens_per_s = models.FloatField(null=True)
    total_tokens_per_s_low = models.FloatField(null=True)
    total_tokens_per_s_high = models.FloatField(null=True)
    ttft_p50 = models.FloatField(null=True)
    ttft_p50_low = models.FloatField(null=True)
    ttft_p50_high = models.FloatField(null=True)
    ttft_p99 = models.FloatField(null=True)
    tpot_p50 = models.FloatField(null=True)
    tpot_p50_low = models.FloatField(null=True)
    tpot_p50_high = models.FloatField(null=True)
    tpot_mean = models.FloatField(null=True)
    e2el_p50 = models.FloatField(null=True)
    e2el_p50_low = models.FloatField(null=True)
    e2el_p50_high = models.FloatField(null=True)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField()
