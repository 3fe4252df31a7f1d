"""What a visitor asks to compare: the URL's parameters, read strictly, written canonically.

A parameter that can be repeated means "any of these"; a parameter left out means all. ``unknown`` stands for a value
that nobody recorded. The page, the CSV, the API and the command line take the same parameters.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from bench_site.metrics import HEADLINE
from bench_site.runs.models.catalogue import slug_of
from bench_site.runs.models.words import Plausibility
from runners.contract.vocabulary import Evidence, KernelStrategy, Loop, VerificationStatus

#: The money columns, which a price book makes: they can be sorted by like a metric.
COST, COST_TOTAL = "cost_per_m_output_tokens", "cost_per_m_total_tokens"
UNKNOWN = "unknown"
#: The URL's word for "no context recorded" and for "count no cost".
NONE = "none"
MAX_VALUES = 200
MAX_LENGTH = 300
MAX_ROWS = 10_000
DEFAULT_ROWS = 100


@dataclass(frozen=True, slots=True)
class BadParameter:
    """One wrong parameter: its name, what was found, what is allowed in words; ``sentence`` where these make none."""

    name: str
    found: str
    allowed: str
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence or _("The parameter “%(name)s” is “%(found)s”; allowed: %(allowed)s.") % {
            "name": self.name,
            "found": self.found,
            "allowed": self.allowed,
        }


class BadSelection(ValueError):
    """The query holds wrong parameters: ``errors`` names every one, ``selection`` is the query without them."""

    def __init__(self, errors: Iterable[BadParameter], selection: "Selection") -> None:
        self.errors = tuple(errors)
        self.selection = selection
        super().__init__(" ".join(map(str, self.errors)))


@dataclass(frozen=True, slots=True)
class BookChoice:
    """A price book as the URL names it: a tier as of a date."""

    tier: str
    date: date

    def __str__(self) -> str:
        return f"{self.tier}@{self.date.isoformat()}"


@dataclass(frozen=True, slots=True)
class Selection:
    """What to compare. Tuples are "any of", sorted; empty means all. Build it with ``parse`` or ``replace``.

    ``context`` in tokens (None: not recorded); ``per`` the least tokens/s per user, ``ttft`` the longest median time to
    first token in seconds; ``book`` None means the newest rental book, ``no_cost`` that none is wanted; ``sort`` ""
    means the ranking, a leading "-" the greatest first; ``rows`` None means all.
    """

    model: tuple[str, ...] = ()
    workload: tuple[str, ...] = ()
    precision: tuple[str, ...] = ()
    chip: tuple[str, ...] = ()
    vendor: tuple[str, ...] = ()
    engine: tuple[str, ...] = ()
    strategy: tuple[str, ...] = ()
    speculative: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    plausibility: tuple[str, ...] = ()
    load: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    context: tuple[int | None, ...] = ()
    tag: tuple[str, ...] = ()
    run: tuple[UUID, ...] = ()
    series: tuple[int, ...] = ()
    group: tuple[int, ...] = ()
    book: BookChoice | None = None
    no_cost: bool = False
    currency: str = "USD"
    utilisation: Decimal = Decimal(1)
    sort: str = ""
    x: str = "interactivity"
    y: str = "output_tokens_per_s_per_chip"
    per: float | None = None
    ttft: float | None = None
    rows: int | None = None
    page: int = 1

    def replace(self, **changes: Any) -> Self:
        """This selection with other values; a filter that changes goes back to the first page."""
        if "page" not in changes and changes.keys() - {"sort"}:
            changes["page"] = 1
        return replace(self, **changes)

    def pairs(self) -> list[tuple[str, str]]:
        """The parameters as (name, text), by name, values in order; what equals its default is left out.

        A book is written with its currency: the address of a view with costs says all that they are made of.
        """
        found: list[tuple[str, str]] = []
        for name, parameter in sorted(PARAMETERS.items()):
            value = getattr(self, name)
            if name == "book" and self.no_cost:
                found.append((name, NONE))
            elif parameter.many:
                found += [(name, parameter.write(one)) for one in value]
            elif value != DEFAULTS[name] or (name == "currency" and self.book is not None):
                found.append((name, parameter.write(value)))
        return found

    def to_query(self, **changes: Any) -> str:
        """The canonical query string, without "?": equal selections give equal strings."""
        chosen = self.replace(**changes) if changes else self
        return urlencode(chosen.pairs(), safe="@:,")


def parse(query: Mapping[str, Any], *, ignore: Iterable[str] = ()) -> Selection:
    """The selection that ``query`` (a QueryDict, or a mapping to text or lists of text) asks for.

    ``ignore`` names parameters that belong to the page, not to the selection. Empty values count as left out.
    Raises ``BadSelection`` with every wrong parameter; its ``selection`` is what remains without them.
    """
    values: dict[str, Any] = {}
    errors: list[BadParameter] = []
    skipped = frozenset(ignore)
    for name, texts in _lists(query):
        if name in skipped or not texts:
            continue
        parameter = PARAMETERS.get(name)
        if parameter is None:
            errors.append(_no_such(name, texts[0]))
            continue
        try:
            values[name] = parameter.read_all(texts)
        except _Wrong as wrong:
            errors.append(BadParameter(name, wrong.found[:MAX_LENGTH], wrong.allowed))
    if values.get("book") == NONE:
        values |= {"book": None, "no_cost": True}
    selection = Selection(**values)
    if errors:
        raise BadSelection(errors, selection)
    return selection


def to_query(selection: Selection) -> str:
    """The canonical query string of ``selection``."""
    return selection.to_query()


def _lists(query: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    items = query.lists() if isinstance(query, MultiValueDict) else query.items()
    listed = ((str(k), v if isinstance(v, list | tuple) else [v]) for k, v in items)
    return [(k, [text for one in v if one is not None and (text := str(one).strip())]) for k, v in listed]


def _no_such(name: str, found: str) -> BadParameter:
    import difflib

    shown = name[:MAX_LENGTH]
    if near := difflib.get_close_matches(name, PARAMETERS, n=1):
        words = {"name": shown, "near": near[0]}
        sentence = _("There is no parameter “%(name)s”; did you mean “%(near)s”?") % words
        return BadParameter(shown, found, near[0], sentence)
    known = ", ".join(sorted(PARAMETERS))
    sentence = _("There is no parameter “%(name)s”; there are: %(known)s.") % {"name": shown, "known": known}
    return BadParameter(shown, found, _("one of %s") % known, sentence)


# ------------------------------------------------------------------------------------------------ one parameter each


class _Wrong(Exception):
    """A value that is not allowed; never leaves this module."""

    def __init__(self, found: str, allowed: str) -> None:
        self.found, self.allowed = found, allowed


Read = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """How one parameter is read (raises ``_Wrong``) and written."""

    read: Read
    many: bool = False
    write: Callable[[Any], str] = str

    def read_all(self, texts: list[str]) -> Any:
        """The value of all occurrences; several distinct ones of a parameter that takes one are refused."""
        for text in texts:
            if len(text) > MAX_LENGTH or any(one == "\0" or "\ud800" <= one <= "\udfff" for one in text):
                shown = text.encode(errors="replace").decode()
                raise _Wrong(shown, _("text of at most %d characters that is valid Unicode without NUL") % MAX_LENGTH)
        if len(texts) > MAX_VALUES:
            raise _Wrong(_("%d values") % len(texts), _("at most %d values") % MAX_VALUES)
        found = {self.read(text) for text in texts}
        if self.many:
            return tuple(sorted(found, key=lambda one: (one is not None, one)))
        if len(found) > 1:
            raise _Wrong(", ".join(texts), _("one value"))
        return found.pop()


def _words(vocabulary: Iterable[str], *, but: str = "") -> Read:
    allowed = [str(word) for word in vocabulary if word != but]

    def read(text: str) -> str:
        word = text.casefold().replace("-", "_")
        if word not in allowed:
            raise _Wrong(text, _("one of %s") % ", ".join(allowed))
        return word

    return read


def _verification(text: str) -> str:
    if text.casefold() == VerificationStatus.FAILED:
        raise _Wrong(text, _("passed, not_run (a wrong output has no number, so failed runs are never compared)"))
    return _words(VerificationStatus, but=VerificationStatus.FAILED)(text)


def _name(text: str) -> str:
    return text.casefold()


def _as_written(text: str) -> str:
    return text


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**63):
        raise _Wrong(text, _("the number of a series or group, as its permalink has it"))
    return int(text)


def _run(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise _Wrong(text, _("the id of a run (a UUID)")) from None


def _whole(least: int, most: int) -> Read:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise _Wrong(text, _("a whole number from %(least)d to %(most)d") % {"least": least, "most": most})
        return int(text)

    return read


def _context(text: str) -> int | None:
    return None if text.casefold() == NONE else _whole(0, 2**40)(text)


def _positive(what: str) -> Read:
    def read(text: str) -> float:
        number = _decimal(text)
        if number is None or not 0 < float(number) < 1e9:
            raise _Wrong(text, _("a number above 0, %s") % _(what))
        return float(number)

    return read


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def _share(text: str) -> Decimal:
    number = _decimal(text)
    if number is None or not 0 < number <= 1 or number < Decimal("0.000001"):
        raise _Wrong(text, _("a share above 0 and at most 1, such as 0.7"))
    return round(number, 6).normalize()


def _currency(text: str) -> str:
    code = text.upper()
    if not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise _Wrong(text, _("a currency code such as USD or CNY"))
    return code


def _book(text: str) -> BookChoice | str:
    if text.casefold() == NONE:
        return NONE
    tier, _at, day = text.rpartition("@")
    try:
        when = date.fromisoformat(day)
    except ValueError:
        when = None
    if not tier or when is None:
        raise _Wrong(text, _("a tier and a date, such as rental@2026-09-01, or none"))
    return BookChoice(tier, when)


def _sort(text: str) -> str:
    sign, name = ("-", text[1:]) if text.startswith("-") else ("", text)
    name = COST if name == "cost" else name
    names = (*HEADLINE, COST, COST_TOTAL)
    if name not in names:
        raise _Wrong(text, _("one of %s; with a leading - the greatest first") % ", ".join(names))
    return sign + name


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")


#: Every parameter, named as in ``Selection``.
PARAMETERS: dict[str, Parameter] = {
    "model": Parameter(slug_of, many=True),
    "workload": Parameter(_name, many=True),
    "precision": Parameter(_name, many=True),
    "chip": Parameter(slug_of, many=True),
    "vendor": Parameter(_name, many=True),
    "engine": Parameter(_name, many=True),
    "strategy": Parameter(_words(KernelStrategy), many=True),
    "speculative": Parameter(_name, many=True),
    "evidence": Parameter(_words(Evidence), many=True),
    "verification": Parameter(_verification, many=True),
    "plausibility": Parameter(_words(Plausibility), many=True),
    "load": Parameter(_words(Loop), many=True),
    "machine": Parameter(_as_written, many=True),
    "context": Parameter(_context, many=True, write=lambda value: NONE if value is None else str(value)),
    "tag": Parameter(_as_written, many=True),
    "run": Parameter(_run, many=True),
    "series": Parameter(_id, many=True),
    "group": Parameter(_id, many=True),
    "book": Parameter(_book),
    "currency": Parameter(_currency),
    "utilisation": Parameter(_share, write=lambda value: f"{value:f}"),
    "sort": Parameter(_sort),
    "x": Parameter(_words(HEADLINE)),
    "y": Parameter(_words(HEADLINE)),
    "per": Parameter(_positive(gettext_noop("in tokens/s per user")), write=_number),
    "ttft": Parameter(_positive(gettext_noop("in seconds")), write=_number),
    "rows": Parameter(_whole(1, MAX_ROWS)),
    "page": Parameter(_whole(1, 1_000_000)),
}
DEFAULTS: dict[str, Any] = {one.name: one.default for one in fields(Selection)}
