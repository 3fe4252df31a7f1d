"""What results refer to: chips, language models, machines. Facts carry their source; absent facts stay NULL."""

import re
import unicodedata

from django.db import models
from django.utils.translation import gettext_lazy as _


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

    slug = models.CharField(_("name as compared"), max_length=200, unique=True)
    name = models.CharField(_("name"), max_length=200)
    vendor = models.CharField(_("vendor"), max_length=100, blank=True)
    unit = models.CharField(_("unit"), max_length=100, blank=True)
    memory_bytes = models.FloatField(_("memory, bytes"), null=True, blank=True)
    bandwidth = models.FloatField(_("bandwidth, bytes/s"), null=True, blank=True)
    bf16_flops = models.FloatField(_("BF16 arithmetic, FLOP/s"), null=True, blank=True)
    fp8_flops = models.FloatField(_("FP8 arithmetic, FLOP/s"), null=True, blank=True)
    tdp_watts = models.FloatField(_("TDP, W"), null=True, blank=True)
    all_in_watts = models.FloatField(_("all-in power, W"), null=True, blank=True)
    sources = models.JSONField(
        _("sources"), default=dict, blank=True, help_text=_("Where each fact was read, by field name.")
    )
    confidence = models.CharField(_("confidence"), max_length=20, blank=True)
    notes = models.TextField(_("notes"), blank=True)
    known = models.BooleanField(_("known"), default=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("chip")
        verbose_name_plural = _("chips")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ChipAlias(models.Model):
    """Another name under which files call a chip; ``slug`` as ``slug_of`` makes it."""

    slug = models.CharField(_("name as compared"), max_length=200, unique=True)
    chip = models.ForeignKey(Chip, verbose_name=_("chip"), on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name = _("chip alias")
        verbose_name_plural = _("chip aliases")

    def __str__(self) -> str:
        return self.slug


class LanguageModel(models.Model):
    """A language model; parameters are counts. ``known`` false: seen in an upload, to be mapped."""

    slug = models.CharField(_("name as compared"), max_length=200, unique=True)
    name = models.CharField(_("name"), max_length=200)
    developer = models.CharField(_("developer"), max_length=100, blank=True)
    parameters_total = models.BigIntegerField(_("parameters, total"), null=True, blank=True)
    parameters_active = models.BigIntegerField(_("parameters, active"), null=True, blank=True)
    source = models.TextField(_("source"), blank=True)
    known = models.BooleanField(_("known"), default=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("language model")
        verbose_name_plural = _("language models")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ModelAlias(models.Model):
    """Another name under which files call a language model; ``slug`` as ``slug_of`` makes it."""

    slug = models.CharField(_("name as compared"), max_length=200, unique=True)
    model = models.ForeignKey(
        LanguageModel, verbose_name=_("language model"), on_delete=models.CASCADE, related_name="aliases"
    )

    class Meta:
        verbose_name = _("model alias")
        verbose_name_plural = _("model aliases")

    def __str__(self) -> str:
        return self.slug


class Machine(models.Model):
    """A machine that results name. ``registered`` true: an operator entered it, so what it pushes is measured."""

    name = models.CharField(_("name"), max_length=200, unique=True)
    registered = models.BooleanField(
        _("registered"), default=False, help_text=_("What a registered machine pushes counts as measured.")
    )
    description = models.TextField(_("description"), blank=True)
    probe = models.JSONField(_("probe"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("machine")
        verbose_name_plural = _("machines")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
