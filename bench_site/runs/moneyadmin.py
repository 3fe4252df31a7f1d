"""Django's admin for prices and exchange rates: added, read, and otherwise left alone.

A cost that somebody read, saved or sent must come out the same tomorrow, so what a price says is not edited. Where it
changed, a newer one is added; what was entered by mistake an administrator deletes, and is told what that does.
"""

from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bench_site.runs.byrole import ByRole
from bench_site.runs.models import ExchangeRate, Price
from bench_site.runs.models.money import plain
from bench_site.runs.models.words import Role


def _code(given: str) -> str:
    code = given.strip().upper()
    if len(code) != 3 or not (code.isascii() and code.isalpha()):
        raise ValidationError(_("A currency is a code of three letters, such as USD or CNY."))
    return code


class PriceForm(forms.ModelForm):
    """A new price; says in words what the table's constraints would refuse."""

    class Meta:
        error_messages: ClassVar = {
            NON_FIELD_ERRORS: {
                "unique_together": gettext_lazy(
                    "This chip has a price in this tier from this day already: one price a chip, tier and day."
                )
            }
        }

    def clean_currency(self) -> str:
        return _code(self.cleaned_data["currency"])

    def clean_amount_per_chip_hour(self) -> Any:
        amount = self.cleaned_data["amount_per_chip_hour"]
        if amount <= 0:
            raise ValidationError(_("The price must be above 0."))
        return amount


class RateForm(forms.ModelForm):
    """A new rate; says in words what the table's constraints would refuse."""

    class Meta:
        error_messages: ClassVar = {
            NON_FIELD_ERRORS: {
                "unique_together": gettext_lazy(
                    "These two currencies have a rate of this day already: one rate a pair and day."
                )
            }
        }

    def clean_base(self) -> str:
        return _code(self.cleaned_data["base"])

    def clean_quote(self) -> str:
        code = _code(self.cleaned_data["quote"])
        if code == self.cleaned_data.get("base"):
            raise ValidationError(_("The two currencies must differ."))
        return code

    def clean_rate(self) -> Any:
        rate = self.cleaned_data["rate"]
        if rate <= 0:
            raise ValidationError(_("The rate must be above 0."))
        return rate


class KeepsHistory(ByRole):
    """What is stored is read; ``newer`` leads to the empty form, filled with the ``carried`` fields."""

    editable: tuple[str, ...] = ()
    shown: ClassVar[dict[str, str]] = {}  # field -> the column of the list that writes it for people
    carried: tuple[str, ...] = ()
    newer_words: str | Promise = ""
    change_form_template = "admin/history_kept.html"
    delete_confirmation_template = "admin/delete_history.html"
    delete_selected_confirmation_template = "admin/delete_history_selected.html"

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return bool(self.editable) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.is_authenticated and request.user.may(Role.ADMIN)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        fields = [str(field) for field in self.fields or ()]
        return [self.shown.get(field, field) for field in fields] if obj else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field for field in self.get_fields(request, obj) if field not in self.editable] if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        # The new form checks fields that an existing row's form does not have.
        return super().get_form(request, obj, change, **kwargs if not change else {"form": forms.ModelForm, **kwargs})

    def newer_address(self, row: Any) -> str:
        """The form for a newer one."""
        options = self.model._meta
        fields = {name: options.get_field(name).value_from_object(row) for name in self.carried}
        return f"{reverse(f'admin:{options.app_label}_{options.model_name}_add')}?{urlencode(fields)}"

    @admin.display(description="")
    def newer(self, row: Any) -> SafeString:
        return format_html('<a href="{}">{}</a>', self.newer_address(row), self.newer_words)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if row := kwargs.get("obj"):
            context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
            context |= {"newer_address": self.newer_address(row), "newer_words": self.newer_words}
        return super().render_change_form(request, context, *args, **kwargs)


@admin.register(Price)
class PriceAdmin(KeepsHistory):
    form = PriceForm
    fields = ["chip", "tier", "currency", "amount_per_chip_hour", "valid_from", "source", "note"]
    editable = ("note",)
    shown: ClassVar = {"amount_per_chip_hour": "amount"}
    carried = ("chip", "tier", "currency")
    newer_words = gettext_lazy("Add a newer price")
    list_display = ["chip", "tier", "amount", "currency", "valid_from", "source", "newer"]
    list_filter = ["tier", "currency", ("chip", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["chip"]
    search_fields = ["chip__name", "chip__aliases__slug", "tier"]
    search_help_text = gettext_lazy("A chip or a tier")
    date_hierarchy = "valid_from"

    @admin.display(description=gettext_lazy("Amount per chip hour"), ordering="amount_per_chip_hour")
    def amount(self, price: Price) -> str:
        return plain(price.amount_per_chip_hour)


@admin.register(ExchangeRate)
class ExchangeRateAdmin(KeepsHistory):
    form = RateForm
    fields = ["base", "quote", "rate", "date", "source"]
    shown: ClassVar = {"rate": "rate_shown"}
    carried = ("base", "quote")
    newer_words = gettext_lazy("Add a newer rate")
    list_display = ["base", "quote", "rate_shown", "date", "source", "newer"]
    list_filter = ["base", "quote"]

    @admin.display(description=gettext_lazy("Rate"), ordering="rate")
    def rate_shown(self, rate: ExchangeRate) -> str:
        return plain(rate.rate)
