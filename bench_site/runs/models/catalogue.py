"""What results refer to: chips, language models, machines. Facts carry their source; absent facts stay NULL."""

import re
import unicodedata

from django.db import models


def slug_of(name: str) -> str:
    """``name`` as it is compared: NFKC, lower case, letters and digits only ("H200 SXM" is "h200sxm").

    A name without any letter or digit is kept as its own lower-case text, so that two such names stay two.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "", text)[:200] or text.strip()[:200]


class Chip(models.Model):
    """An accelerator chip (or the smallest unit that is bought). ``known`` false: seen in an upload, to be mapped.

    Bandwidth in bytes/s, memory in bytes, arithmetic in dense FLOP/s, power in watts.
    """

    slug = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=100, blank=True)
    unit = models.CharField(max_length=100, blank=True)
    memory_bytes = models.FloatField(null=True, blank=True)
    bandwidth = models.FloatField(null=True, blank=True)
    bf16_flops = models.FloatField(null=True, blank=True)
    fp8_flops = models.FloatField(null=True, blank=True)
    tdp_watts = models.FloatField(null=True, blank=True)
    all_in_watts = models.FloatField(null=True, blank=True)
    sources = models.JSONField(default=dict, blank=True, help_text="Where each fact was read, by field name.")
    confidence = models.CharField(max_length=20, blank=True)
    notes = models.TextField(blank=True)
    known = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ChipAlias(models.Model):
    """Another name under which files call a chip; ``slug`` as ``slug_of`` makes it."""

    slug = models.CharField(max_length=200, unique=True)
    chip = models.ForeignKey(Chip, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name_plural = "chip aliases"

    def __str__(self) -> str:
        return self.slug


class LanguageModel(models.Model):
    """A language model; parameters are counts. ``known`` false: seen in an upload, to be mapped."""

    slug = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200)
    developer = models.CharField(max_length=100, blank=True)
    parameters_total = models.BigIntegerField(null=True, blank=True)
    parameters_active = models.BigIntegerField(null=True, blank=True)
    source = models.TextField(blank=True)
    known = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ModelAlias(models.Model):
    """Another name under which files call a language model; ``slug`` as ``slug_of`` makes it."""

    slug = models.CharField(max_length=200, unique=True)
    model = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name_plural = "model aliases"

    def __str__(self) -> str:
        return self.slug


class Machine(models.Model):
    """A machine that results name. ``registered`` true: an operator entered it, so what it pushes is measured."""

    name = models.CharField(max_length=200, unique=True)
    registered = models.BooleanField(default=False)
    description = models.TextField(blank=True)
    probe = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
