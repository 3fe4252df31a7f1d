"""The filter form: one GET form whose fields are the URL's parameters, filled from a comparison's options."""

from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bench_site.compare.overview import Overview
from bench_site.compare.selection import NONE, Selection
from bench_site.compare.shapes import Comparison, Option

#: The question: one choice each, as a rule.
QUESTION = {
    "model": (gettext_lazy("Model"), gettext_lazy("all models")),
    "workload": (gettext_lazy("Workload"), gettext_lazy("all workloads")),
    "precision": (gettext_lazy("Precision"), gettext_lazy("all")),
}
#: What narrows it: any number of choices each.
NARROW = {
    "chip": gettext_lazy("Chips"),
    "engine": gettext_lazy("Engines"),
    "strategy": gettext_lazy("Kernel strategy"),
    "speculative": gettext_lazy("Speculation"),
    "evidence": gettext_lazy("Evidence"),
    "verification": gettext_lazy("Verification"),
}
#: Shown where there is something to choose, or where something has been chosen.
RARE = {
    "vendor": gettext_lazy("Vendors"),
    "load": gettext_lazy("Load loop"),
    "context": gettext_lazy("Context"),
    "machine": gettext_lazy("Machines"),
    "plausibility": gettext_lazy("Plausibility"),
}
CURRENCIES = ("USD", "CNY")
#: Fields of the form that are no facets.
OTHERS = frozenset({"per", "ttft", "book", "currency", "utilisation"})


@dataclass(frozen=True, slots=True)
class Control:
    """One filter. ``value`` says in short what is chosen; ``single`` is drawn as a select, else as a menu.

    ``others`` are options outside the other filters, under the heading ``others_title``.
    """

    name: str
    title: str
    value: str
    options: list[Option]
    chosen: int = 0
    single: bool = False
    all_words: str = ""
    others: list[Option] = field(default_factory=list)
    others_title: str = ""


@dataclass(slots=True)
class Form:
    """Everything the form's template needs."""

    question: list[Control]
    narrow: list[Control]
    books: list[Option]
    currencies: list[Option]
    per: str
    ttft: str
    utilisation: str
    hidden: list[tuple[str, str]] = field(default_factory=list)

    @property
    def folded(self) -> int:
        """How many of the filters that a phone folds away are set."""
        set_ = [control for control in (*self.question, *self.narrow) if control.chosen]
        return sum(control.name not in ("model", "workload") for control in set_) + bool(self.per) + bool(self.ttft)


def form(comparison: Comparison, overview: Overview) -> Form:
    """The form of ``comparison``; parameters without a field travel hidden, so that a change keeps them."""
    selection: Selection = comparison.selection
    question = [_question(name, comparison.options.get(name, []), _others(name, comparison, overview))
                for name in QUESTION]  # fmt: skip
    narrow = [_menu(name, str(title), comparison.options.get(name, [])) for name, title in NARROW.items()]
    for name, title in RARE.items():
        options = comparison.options.get(name, [])
        if (name != "vendor" and len(options) > 1) or any(option.selected for option in options):
            narrow.append(_menu(name, str(title), options))
    fields = {control.name for control in question + narrow} | OTHERS
    return Form(
        question=question,
        narrow=[control for control in narrow if control.options],
        books=_books(comparison),
        currencies=[Option(code, code, 0, code == selection.currency) for code in _currencies(selection)],
        per="" if selection.per is None else f"{selection.per:g}",
        ttft="" if selection.ttft is None else f"{selection.ttft:g}",
        utilisation="" if selection.utilisation == 1 else f"{selection.utilisation:f}",
        hidden=[pair for pair in selection.pairs() if pair[0] not in fields and pair[0] != "page"],
    )


def headline(comparison: Comparison) -> str:
    """What the page is about: the models that are compared."""
    chosen = [option.label for option in comparison.options.get("model", []) if option.selected]
    return ", ".join(chosen[:3]) + (" …" if len(chosen) > 3 else "") if chosen else _("All models")


def _others(name: str, comparison: Comparison, overview: Overview) -> tuple[list[Option], str]:
    """The models that the other filters leave out, with all their groups: a list that hides them hides the results."""
    if name != "model":
        return [], ""
    listed = {option.value for option in comparison.options.get("model", [])}
    title = _("in other workloads") if comparison.selection.workload else _("outside these filters")
    return [Option(slug, model or _("unknown"), groups, False)
            for slug, model, groups in overview.models if slug not in listed], title  # fmt: skip


def _question(name: str, options: list[Option], others: tuple[list[Option], str]) -> Control:
    title, all_words = QUESTION[name]
    chosen = sum(option.selected for option in options)
    control = _menu(name, str(title), options)
    return Control(
        name, control.title, control.value, options, chosen, chosen < 2, str(all_words), others[0], others[1]
    )


def _menu(name: str, title: str, options: list[Option]) -> Control:
    chosen = [option for option in options if option.selected]
    value = _("all") if not chosen else chosen[0].label if len(chosen) == 1 else _("%(n)d chosen") % {"n": len(chosen)}
    return Control(name, title, value, options, len(chosen))


def _books(comparison: Comparison) -> list[Option]:
    current = comparison.book.slug if comparison.book else NONE
    books = [Option(book.slug, book.label, 0, book.slug == current) for book in comparison.books]
    return [*books, Option(NONE, _("no prices"), 0, current == NONE)]


def _currencies(selection: Selection) -> list[str]:
    return [*CURRENCIES] if selection.currency in CURRENCIES else [*CURRENCIES, selection.currency]
