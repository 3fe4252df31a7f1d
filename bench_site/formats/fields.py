"""Reading single values out of foreign objects: whatever stands there, a usable value or None with a note."""

import math
import re
from typing import Any

from runners.contract.types import MAX_COUNT, MAX_NUMBER

_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][+-]?\d{1,4})?")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class Notebook:
    """Notes for the person who reads the import, each once, at most 40."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        line = clean(text)[:500]
        if line and line not in self.lines and len(self.lines) < 40:
            self.lines.append(line)


def clean(text: str) -> str:
    """``text`` without what no database stores (NUL, lone surrogates) and without space around it."""
    return _UNSTORABLE.sub("", text).strip()


def as_number(value: Any) -> float | None:
    """``value`` as a float: a number, or a text that is one (``"1,146.31"`` too); NaN and infinities stay."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and len(value) < 60:
        text = value.strip()
        if text.lower() in ("inf", "+inf", "infinity", "-inf", "-infinity", "nan"):
            return float(text)
        if _NUMBER.fullmatch(text) and any(c.isdigit() for c in text.split("e")[0].split("E")[0]):
            return float(text.replace(",", ""))
    return None


class Fields:
    """One object of a file. Every reader answers None for what is absent, null, of another type or out of range."""

    def __init__(self, values: Any, notes: Notebook, prefix: str = "") -> None:
        self.values: dict[str, Any] = values if isinstance(values, dict) else {}
        self.notes = notes
        self.prefix = prefix

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def raw(self, key: str) -> Any:
        return self.values.get(key)

    def number(self, key: str, *, scale: float = 1.0) -> float | None:
        """A finite number of at least 0, times ``scale``."""
        value = self.values.get(key)
        if value is None:
            return None
        found = as_number(value)
        if found is None:
            self._unusable(key, value, "is not a number")
        elif math.isnan(found) or math.isinf(found):
            self._unusable(key, value, "is not finite")
        elif found < 0:
            self._unusable(key, value, "is negative")
        elif found * scale > MAX_NUMBER or found > MAX_NUMBER:
            self._unusable(key, value, "is beyond any possible figure")
        else:
            return found * scale
        return None

    def positive(self, key: str, *, scale: float = 1.0) -> float | None:
        """Like ``number``, and 0 is taken for "not measured"."""
        found = self.number(key, scale=scale)
        if found == 0:
            self.notes.say(f"{self.prefix}{key} is 0, which means that it was not measured: left unknown")
            return None
        return found

    def count(self, key: str) -> int | None:
        found = self.number(key)
        if found is None:
            return None
        if found != int(found) or found > MAX_COUNT:
            self._unusable(key, self.values[key], "is not a count")
            return None
        value = self.values[key]
        return value if isinstance(value, int) else int(found)

    def size(self, key: str) -> int | None:
        """A count of at least 1; 0 says nothing."""
        return self.count(key) or None

    def text(self, key: str, limit: int = 200) -> str | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self._unusable(key, value, "is not a text")
            return None
        found = clean(value)
        if len(found) > limit:
            self._unusable(key, found, f"is longer than {limit} characters")
            return None
        return found or None

    def flag(self, key: str) -> bool | None:
        """A truth value, also written as text: ``"false"`` is False."""
        value = self.values.get(key)
        if isinstance(value, str):
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(
                value.strip().lower()
            )
        return value if isinstance(value, bool) else None

    def inner(self, key: str) -> "Fields":
        """The object under ``key``; empty where there is none."""
        return Fields(self.values.get(key), self.notes, f"{self.prefix}{key}.")

    def array(self, key: str) -> list[Any] | None:
        value = self.values.get(key)
        return value if isinstance(value, list) else None

    def _unusable(self, key: str, value: Any, why: str) -> None:
        shown = clean(str(value)) if isinstance(value, str | int | float) else type(value).__name__
        self.notes.say(f"{self.prefix}{key} ({shown[:40]}) {why}: left unknown")
