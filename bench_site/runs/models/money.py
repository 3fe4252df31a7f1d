"""Prices and exchange rates, dated and sourced; history is kept, never overwritten."""

from django.db import models


class Price(models.Model):
    """What one chip costs for one hour in a tier (rental, on-demand, owned ...) from a date on."""

    chip = models.ForeignKey("runs.Chip", on_delete=models.PROTECT, related_name="prices")
    tier = models.CharField(max_length=50)
    currency = models.CharField(max_length=3)
    amount_per_chip_hour = models.DecimalField(max_digits=18, decimal_places=6)
    valid_from = models.DateField()
    source = models.TextField()
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["tier", "chip", "-valid_from"]
        constraints = [
            # One price a chip, tier and day: two would make a book ambiguous.
            models.UniqueConstraint(fields=["chip", "tier", "valid_from"], name="price_once_a_day"),
            models.CheckConstraint(condition=models.Q(amount_per_chip_hour__gt=0), name="price_positive"),
            models.CheckConstraint(condition=models.Q(currency__regex=r"^[A-Z]{3}$"), name="price_currency_code"),
        ]

    def __str__(self) -> str:
        return f"{self.chip} {self.tier} {self.amount_per_chip_hour} {self.currency} from {self.valid_from}"


class ExchangeRate(models.Model):
    """One unit of ``base`` costs ``rate`` units of ``quote`` on ``date``."""

    date = models.DateField()
    base = models.CharField(max_length=3)
    quote = models.CharField(max_length=3)
    rate = models.DecimalField(max_digits=18, decimal_places=8)
    source = models.TextField()

    class Meta:
        ordering = ["base", "quote", "-date"]
        constraints = [
            models.UniqueConstraint(fields=["base", "quote", "date"], name="rate_once_a_day"),
            models.CheckConstraint(condition=models.Q(rate__gt=0), name="rate_positive"),
        ]

    def __str__(self) -> str:
        return f"1 {self.base} = {self.rate} {self.quote} on {self.date}"
