"""Which values of a foreign file are secrets or other people's words, and where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench_site.formats.adapter import Adapter
from bench_site.formats.load import Document

REMOVED = "[removed]"
#: Keys that hold secrets in the files of any tool (an adapter may declare more).
_SECRET_KEYS = frozenset(
    (
        "api_key",
        "apikey",
        "token",
        "access_token",
        "auth_token",
        "bearer_token",
        "hf_token",
        "authorization",
        "headers",
        "extra_headers",
        "header",
        "password",
        "passwd",
        "secret",
        "client_secret",
        "private_key",
        "credentials",
        "cookie",
        "cookies",
    )
)
_SECRET_ENDINGS = (
    "_api_key", "_access_key", "_secret_key", "_private_key", "_password", "_passwd", "_secret", "_access_token",
    "_auth_token", "_hf_token",
)  # fmt: skip
_WORDS = r"(?:api[-_]?key|token|password|passwd|secret|authorization)"
#: Names of settings and headers, as they end; "token" alone counts only as an option or in a URL, because it is a unit.
_NAMES = (
    r"(?:api[-_]?key|password|passwd|secret|authorization|(?:hf|auth|access)[-_]token|(?:access|secret|private)[-_]key"
    r"|cookie)"
)
#: A secret inside a longer text: an option of a command line (also where it goes on after a backslash), a header, a
#: setting, a URL with a password, a key of a known shape. All repetitions are bounded, so that no text makes this slow.
_IN_TEXT = re.compile(
    rf"""(?P<keep>--?(?:[a-z]{{1,20}}[-_]){{0,4}}{_WORDS}(?:\s?=\s?|(?:\\?\s){{1,9}})(?:\\?["'])?"""
    rf"""|\b(?:[a-z0-9]{{1,20}}[-_]){{0,4}}(?:pg|redis|mysql)?{_NAMES}"""
    r"""\\?["']?\s{0,9}[:=]\s{0,9}(?:\\?["'])?(?:(?:bearer|basic|token)\s+)?"""
    r"""|[?&](?:token|key|sig|signature)="""
    r"""|\bbearer\s{1,9}(?=[a-z0-9._~+/=-]{8}))"""
    r"""(?P<secret>[^\s"'\\,;&@|<>\[\]{}()]{3,})"""
    r"""|(?P<user>://[^/\s:@"']{0,100}:)[^/\s@"']{1,200}(?=@)"""
    r"""|\b(?:sk-[a-z0-9_-]{16,}|hf_[a-z0-9]{20,}|gh[pousr]_[a-z0-9]{20,}|github_pat_\w{20,}|glpat-[a-z0-9_-]{16,}"""
    r"""|nvapi-[a-z0-9_-]{16,}|fb_[a-z0-9]{10}_[a-z0-9]{20,}|eyJ[a-z0-9_-]{10,500}\.eyJ[a-z0-9_-]{4,}[a-z0-9._-]{0,2000})""",
    re.IGNORECASE,
)
_OPTION = re.compile(rf"--?(?:[a-z]{{1,20}}[-_]){{0,4}}(?:{_WORDS}|header)", re.IGNORECASE)
#: Settings that stand where a secret might: nothing to hide, and reading them again must give the same.
_PLAIN = frozenset(("none", "null", "true", "false", ""))

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """One value to replace: ``parent[key] = replacement``."""

    parent: Any
    key: Any
    path: Path
    replacement: Any


def is_secret_key(key: str, adapter: Adapter | None = None) -> bool:
    word = key.lower().replace("-", "_")
    return word in _SECRET_KEYS or word.endswith(_SECRET_ENDINGS) or (adapter is not None and key in adapter.secrets)


def scrub_text(text: str) -> str:
    """``text`` with the secrets inside it replaced."""

    def replace(found: re.Match[str]) -> str:
        if found["user"]:
            return f"{found['user']}{REMOVED}"
        secret = found["secret"]
        if secret is None:
            return REMOVED
        return found[0] if secret.isdigit() or secret.lower() in _PLAIN else f"{found['keep']}{REMOVED}"

    return _IN_TEXT.sub(replace, text)


def find_secrets(value: Any, adapter: Adapter | None) -> Iterator[Place]:
    """Every place in ``value`` whose content must not be stored. Walks without recursion."""
    texts = adapter.texts if adapter else ()
    todo: list[tuple[Any, Path]] = [(value, ())]
    while todo:
        holder, path = todo.pop()
        entries = holder.items() if isinstance(holder, dict) else enumerate(holder)
        before: Any = None
        for key, item in entries:
            if not item or not isinstance(item, str | dict | list):
                before = item
                continue
            step = (*path, key)
            if isinstance(key, str) and key in texts:
                if (rest := _without_answers(item)) != item:
                    yield Place(holder, key, step, rest)
            elif isinstance(key, str) and is_secret_key(key, adapter):
                if item != REMOVED and not (isinstance(item, str) and item.lower() in _PLAIN):
                    yield Place(holder, key, step, REMOVED)
            elif isinstance(item, str):
                option = isinstance(key, int) and isinstance(before, str) and _OPTION.fullmatch(before)
                clean = REMOVED if option else scrub_text(item)
                if clean != item:
                    yield Place(holder, key, step, clean)
            else:
                todo.append((item, step))
            before = item


def _without_answers(value: Any) -> Any:
    """Answers are other people's words; whether one was empty stays, because reading depends on it."""
    if isinstance(value, list):
        return [REMOVED if answer else answer for answer in value]
    return REMOVED


def secret_paths(document: Document, adapter: Adapter | None) -> list[str]:
    """The paths of everything that ``redact`` takes out of the records, sorted."""
    several = len(document.records) > 1
    return sorted(
        show(place.path, index if several else None)
        for index, record in enumerate(document.records)
        if isinstance(record.value, dict | list)
        for place in find_secrets(record.value, adapter)
    )


def show(path: Path, record: int | None) -> str:
    """A path as text; of several records the record's number stands first."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"[{record}]{text}" if record is not None else text.removeprefix(".")
