"""Prices and exchange rates, dated and sourced; history is kept, never overwritten."""

from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _


def plain(amount: Decimal) -> str:
    """An amount as a person writes it: 2.05 and not 2.050000."""
    return f"{Decimal(amount).normalize():f}"


class Price(models.Model):
    """What one chip costs for one hour in a tier (rental, on-demand, owned ...) from a date on."""

    chip = models.ForeignKey("runs.Chip", verbose_name=_("chip"), on_delete=models.PROTECT, related_name="prices")
    tier = models.CharField(
        _("tier"),
        max_length=50,
        help_text=_(
            "A tier and a date together make a price book in the compare page's list: rental, on-demand, owned ..."
        ),
    )
    currency = models.CharField(_("currency"), max_length=3, help_text=_("Its code of three letters: USD, CNY, EUR."))
    amount_per_chip_hour = models.DecimalField(_("amount per chip hour"), max_digits=18, decimal_places=6)
    valid_from = models.DateField(
        _("valid from"), help_text=_("The price holds from this day until a newer one of the same chip and tier.")
    )
    source = models.TextField(_("source"), help_text=_("Where it was read: an address, a quote, a contract."))
    note = models.TextField(_("note"), blank=True)

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["tier", "chip", "-valid_from"]
        constraints = [
            # One price a chip, tier and day: two would make a book ambiguous.
            models.UniqueConstraint(fields=["chip", "tier", "valid_from"], name="price_once_a_day"),
            models.CheckConstraint(condition=models.Q(amount_per_chip_hour__gt=0), name="price_positive"),
            models.CheckConstraint(condition=models.Q(currency__regex=r"^[A-Z]{3}$"), name="price_currency_code"),
        ]

    def __str__(self) -> str:
        return f"{self.chip} {self.tier} {plain(self.amount_per_chip_hour)} {self.currency} from {self.valid_from}"


class ExchangeRate(models.Model):
    """One unit of ``base`` costs ``rate`` units of ``quote`` on ``date``."""

    date = models.DateField(_("date"), help_text=_("The day on which the rate held."))
    base = models.CharField(_("from currency"), max_length=3)
    quote = models.CharField(_("into currency"), max_length=3)
    rate = models.DecimalField(
        _("rate"), max_digits=18, decimal_places=8, help_text=_("What one unit of the first costs in the second.")
    )
    source = models.TextField(_("source"), help_text=_("Where it was read: an address, a quote, a contract."))

    class Meta:
        verbose_name = _("exchange rate")
        verbose_name_plural = _("exchange rates")
        ordering = ["base", "quote", "-date"]
        constraints = [
            models.UniqueConstraint(fields=["base", "quote", "date"], name="rate_once_a_day"),
            models.CheckConstraint(condition=models.Q(rate__gt=0), name="rate_positive"),
        ]

    def __str__(self) -> str:
        return f"1 {self.base} = {plain(self.rate)} {self.quote} on {self.date}"
