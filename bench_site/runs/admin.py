"""Django's admin for the catalogue and machines, operators only; prices are in ``moneyadmin``.

What is derived from a name (slugs) is made here and not typed; what stored results are keyed by is not changed here:
mapping an unknown chip or model is a verb of its own (``remap``), offered as an action.
"""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from bench_site.runs import moneyadmin  # noqa: F401  registers prices and exchange rates
from bench_site.runs.byrole import ByRole, InlineByRole
from bench_site.runs.models import Chip, ChipAlias, LanguageModel, Machine, ModelAlias
from bench_site.runs.models.catalogue import slug_of
from bench_site.runs.remap import CannotMap, Mapped, map_chip, map_model


class AliasForm(forms.ModelForm):
    """An alias as anybody writes it; kept in the form in which names are compared."""

    def clean_slug(self) -> str:
        """Refuse what is an entry's own name: results are keyed by it."""
        slug = slug_of(self.cleaned_data["slug"])
        owners: type[models.Model] = Chip if self._meta.model is ChipAlias else LanguageModel
        own = owners._default_manager.filter(slug=slug).first()
        if own is not None:
            raise ValidationError(
                _("%(name)s is an entry of its own. If it is unknown, map it with the action of the list."),
                params={"name": own},
            )
        return slug


class ChipAliasInline(InlineByRole):
    model = ChipAlias
    form = AliasForm


class ModelAliasInline(InlineByRole):
    model = ModelAlias
    form = AliasForm


class ChipActionForm(ActionForm):
    """Which chip the selected ones are."""

    to = forms.ModelChoiceField(Chip.objects.filter(known=True), required=False, label=gettext_lazy("Known chip"))


class ModelActionForm(ActionForm):
    """Which model the selected ones are."""

    to = forms.ModelChoiceField(
        LanguageModel.objects.filter(known=True), required=False, label=gettext_lazy("Known model")
    )


class CatalogueEntry(ByRole):
    """A chip or model; its slug follows from its name when it is made, and stays."""

    list_filter = ["known"]
    search_fields = ["name", "slug", "aliases__slug"]
    readonly_fields = ["slug", "created_at"]
    actions = ["map_to"]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).annotate(alias_count=Count("aliases", distinct=True))

    @admin.display(description=gettext_lazy("Aliases"), ordering="alias_count")
    def number_of_aliases(self, entry: Any) -> int:
        return entry.alias_count

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.slug = slug_of(obj.name)
        super().save_model(request, obj, form, change)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        made = super().get_form(request, obj, change, **kwargs)
        return made if change else type(made.__name__, (_NewEntry, made), {})

    @admin.action(description=gettext_lazy("Map the selected unknown entries to the known one chosen"))
    def map_to(self, request: HttpRequest, queryset: QuerySet) -> None:
        verb: Any = map_chip if self.model is Chip else map_model
        known = self.model._default_manager.filter(pk=request.POST.get("to") or None).first()
        if known is None:
            messages.error(request, _("Choose the known entry beside the action first."))
            return
        for unknown in queryset.order_by("pk"):
            name = str(unknown)
            try:
                done = verb(unknown=unknown, known=known)
            except CannotMap as why:
                messages.error(request, f"{name}: {why}")
            else:
                messages.success(request, _what_was_mapped(name, known, done))


def _what_was_mapped(name: str, known: Chip | LanguageModel, done: Mapped) -> SafeString:
    said = ngettext("%(runs)s run now counts as %(known)s.", "%(runs)s runs now count as %(known)s.", done.runs)
    if isinstance(known, Chip):
        address, alias = reverse("chip", args=[known.slug]), _("%(name)s is from now on another name of this chip.")
    else:
        address = f"{reverse('runs')}?{urlencode({'q': known.name})}"
        alias = _("%(name)s is from now on another name of this model.")
    return format_html(
        '<a href="{}">{}</a> {}', address, said % {"runs": done.runs, "known": known}, alias % {"name": name}
    )


class _NewEntry(forms.ModelForm):
    """Refuses a new entry under a name that is taken."""

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        slug, owners = slug_of(name), self._meta.model._default_manager
        if taken := owners.filter(Q(slug=slug) | Q(aliases__slug=slug)).first():
            raise ValidationError(_("This name already stands for %(name)s."), params={"name": taken})
        return name


@admin.register(Chip)
class ChipAdmin(CatalogueEntry):
    list_display = ["name", "vendor", "unit", "memory", "bandwidth_shown", "number_of_aliases", "known", "confidence"]
    list_filter = ["known", "vendor"]
    action_form = ChipActionForm
    inlines = [ChipAliasInline]
    fields = [
        "name", "slug", "known", "vendor", "unit", "memory_bytes", "bandwidth", "bf16_flops", "fp8_flops",
        "tdp_watts", "all_in_watts", "sources", "confidence", "notes", "created_at",
    ]  # fmt: skip

    @admin.display(description=gettext_lazy("Memory, GB"), ordering="memory_bytes")
    def memory(self, chip: Chip) -> str | None:
        return None if chip.memory_bytes is None else f"{chip.memory_bytes / 1e9:,.0f}"

    @admin.display(description=gettext_lazy("Bandwidth, GB/s"), ordering="bandwidth")
    def bandwidth_shown(self, chip: Chip) -> str | None:
        return None if chip.bandwidth is None else f"{chip.bandwidth / 1e9:,.0f}"


@admin.register(LanguageModel)
class LanguageModelAdmin(CatalogueEntry):
    list_display = ["name", "developer", "parameters_total", "parameters_active", "number_of_aliases", "known"]
    list_filter = ["known", "developer"]
    action_form = ModelActionForm
    inlines = [ModelAliasInline]


@admin.register(Machine)
class MachineAdmin(ByRole):
    list_display = ["name", "registered", "created_at", "description"]
    list_filter = ["registered"]
    search_fields = ["name"]
    readonly_fields = ["probe", "created_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        # The name is part of the key of every series of the machine.
        return ["name", *self.readonly_fields] if obj else list(self.readonly_fields)
