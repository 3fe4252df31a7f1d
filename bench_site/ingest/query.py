"""The URL parameters of an upload: read strictly, every wrong one named."""

from typing import Any, TypedDict

from django.http import HttpRequest, QueryDict
from pydantic import ValidationError

from bench_site.ingest.refusals import field_error, refuse
from bench_site.ingest.words import field_errors
from runners.contract.context import Context
from runners.contract.problems import FieldError

LISTS = frozenset({"pool", "tag", "set"})
_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no", ""})

#: Parameters beside the context: name -> (JSON Schema, what it says).
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "amend": ({"type": "boolean", "default": False}, "Write a changed run as a new revision."),
    "reason": ({"type": "string", "maxLength": 2000}, "Why it is amended."),
    "dry_run": ({"type": "boolean", "default": False}, "Say what was understood; write nothing."),
}
FILE_OPTIONS = {"filename": ({"type": "string", "maxLength": 500}, "The file's name, kept for people."), **OPTIONS}


class Options(TypedDict):
    """Keyword arguments that all accept verbs share."""

    amend: bool
    reason: str
    dry_run: bool


class Parameters:
    """The parameters of one request, taken one by one; ``done`` raises Refusal if any was wrong or left over."""

    def __init__(self, request: HttpRequest) -> None:
        self.given: QueryDict = request.GET
        self.errors: list[FieldError] = []
        self.known: set[str] = set()

    def text(self, name: str, longest: int = 2_000) -> str:
        """One text; "" when absent."""
        self.known.add(name)
        values = self.given.getlist(name)
        if len(values) > 1:
            self._wrong(name, "is given more than once", values[1])
        found = values[0] if values else ""
        if "\x00" in found or len(found) > longest or not found.isprintable():
            self._wrong(name, "is too long or holds control characters", found, f"at most {longest:,} characters")
            return ""
        return found

    def flag(self, name: str) -> bool:
        """true or false; false when absent."""
        found = self.text(name).lower()
        if found not in _TRUE | _FALSE:
            self._wrong(name, "is neither true nor false", found, "true or false")
        return found in _TRUE

    def number(self, name: str) -> int | None:
        """A whole number from 1; None when absent."""
        found = self.text(name)
        if not found:
            return None
        if not (found.isascii() and found.isdigit() and len(found) < 10 and int(found)):
            self._wrong(name, "is no whole number from 1", found)
            return None
        return int(found)

    def context(self) -> Context:
        """Everything that Context knows."""
        given: dict[str, Any] = {}
        for name in Context.model_fields:
            self.known.add(name)
            values = self.given.getlist(name)
            if values and name not in LISTS and len(values) > 1:
                self._wrong(name, "is given more than once", values[1])
            if values:
                given[name] = values if name in LISTS else values[0]
        try:
            return Context.model_validate(given)
        except ValidationError as error:
            self.errors += field_errors(error.errors(include_url=False), given)
            return Context()

    def options(self) -> "Options":
        """The options of every write; call it last, as it raises what ``done`` raises."""
        found: Options = {"amend": self.flag("amend"), "reason": self.text("reason"), "dry_run": self.flag("dry_run")}
        self.done()
        return found

    def done(self) -> None:
        """Raise Refusal ``bad-query`` that names every wrong parameter."""
        for name in self.given:
            if name not in self.known:
                self._wrong(name, "is no parameter here", self.given[name], ", ".join(sorted(self.known)) or "none")
        if self.errors:
            names = "; ".join(f"{error.path} {error.message}" for error in self.errors[:3])
            raise refuse("bad-query", f"In the URL: {names}.", self.errors)

    def _wrong(self, name: str, message: str, found: object, allowed: str | None = None) -> None:
        name = name[:200].encode("utf-8", "replace").decode()
        self.errors.append(field_error(name, "bad-query", message, found, allowed))
