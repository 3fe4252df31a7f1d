"""How numbers are written: three significant digits, thousands separated, unknown said in words."""

from decimal import Context, Decimal

from django.utils.translation import gettext as _

from bench_site.compare.shapes import Figure

SIGNS = {"USD": "$", "CNY": "¥", "EUR": "€", "GBP": "£"}
TEN_DIGITS = Context(prec=10)


def number(value: float | Decimal | None) -> str:
    """``value`` with about three significant digits; never rounded before the decimal point."""
    if value is None:
        return _("unknown")
    size = abs(float(value))
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    if size == 0:
        return "0"
    return f"{value:.3g}" if size < 0.0001 else f"{value:.{_places(size)}f}"


def _places(size: float) -> int:
    """Decimal places that leave three significant digits of a number below 1."""
    places = 3
    while size < 0.1 and places < 7:
        size *= 10
        places += 1
    return places


def scaled(value: float | None, scale: float) -> float | None:
    """``value`` in the unit that is shown."""
    return None if value is None else value * scale


def interval(low: float | Decimal | None, high: float | Decimal | None, scale: float = 1) -> str:
    """``low``–``high``; "" where one of them is unknown."""
    if low is None or high is None:
        return ""
    if isinstance(low, float | int) and isinstance(high, float | int):
        low, high = low * scale, high * scale
    return f"{number(low)}–{number(high)}"


def figure(value: Figure, scale: float = 1) -> str:
    """The median of ``value`` in the unit that is shown."""
    return number(scaled(value.value, scale))


def count(value: float | None) -> str:
    """A count, without decimal places where it is whole."""
    if value is None:
        return _("unknown")
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,g}"


def cost(amount: Decimal | None) -> Decimal | None:
    """An amount as it leaves the site, on pages and in files alike: ten significant digits of a quotient's 28."""
    return None if amount is None else amount.normalize(TEN_DIGITS)


def money(amount: Decimal | None, currency: str) -> str:
    """An amount with its sign or, where it has none, its code."""
    shown = cost(amount)
    if shown is None:
        return _("unknown")
    sign = SIGNS.get(currency)
    return f"{sign}{_cents(shown)}" if sign else f"{_cents(shown)} {currency}"


def price(amount: Decimal, currency: str) -> str:
    """A price as it was entered, with at least two decimal places."""
    places = max(2, -int(amount.normalize().as_tuple().exponent))
    sign = SIGNS.get(currency)
    return f"{sign}{amount:,.{places}f}" if sign else f"{amount:,.{places}f} {currency}"


def _cents(amount: Decimal) -> str:
    return f"{amount:,.0f}" if amount >= 1000 else f"{amount:.2f}" if amount >= 1 else number(amount)


def memory(value: float | None) -> str:
    """Bytes as chips are sold: in GiB where they are whole GiB, else in GB or TB."""
    if value is not None and value >= 2**30 and value % 2**30 == 0:
        return f"{value / 2**30:,.0f} GiB"
    return _in_units(value, "B").replace(".0 ", " ")


def size(value: float | None) -> str:
    """Bytes of a file, in decimal units."""
    return _in_units(value, "B")


def per_second(value: float | None) -> str:
    """Bytes/s in decimal units."""
    return _in_units(value, "B/s")


def flops(value: float | None) -> str:
    """FLOP/s in decimal units."""
    return _in_units(value, "FLOP/s")


def _in_units(value: float | None, unit: str) -> str:
    if value is None:
        return _("unknown")
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 1000:
            return f"{number(value)} {prefix}{unit}"
        value /= 1000
    return f"{number(value)} P{unit}"
