"""The .po files, without gettext: Babel extracts, updates and checks, so that a fresh machine needs no more.

Every string that is marked for translation must be translated in every language but English; `make check` names the
ones that are not. `make i18n` writes new strings into the .po files, for a person to translate.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

PROJECT = Path(__file__).resolve().parent.parent
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|\{(\w*)\}")


def sources() -> Iterator[tuple[Path, bytes]]:
    """Python modules, and templates turned into Python calls (Django's own step before xgettext)."""
    for path in sorted((PROJECT / "bench_site").rglob("*.py")):
        if "migrations" not in path.parts:
            yield path, path.read_bytes()
    for folder in (PROJECT / "templates", PROJECT / "bench_site"):
        for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.txt")]):
            yield path, templatize(path.read_text(encoding="utf-8"), origin=str(path)).encode()


def marked() -> Catalog:
    found = Catalog(project="Fuseboard", charset="utf-8")
    for path, text in sources():
        for line, message, comments, context in extract(
            "python", BytesIO(text), keywords=KEYWORDS, comment_tags=["Translators:"]
        ):
            if message and message != ("", ""):
                place = (str(path.relative_to(PROJECT)), line)
                found.add(message, locations=[place], auto_comments=comments, context=context)
    return found


def po_files() -> list[Path]:
    """One for each language but English, whether it exists or not."""
    languages = [to_locale(code) for code, _name in settings.LANGUAGES if code != "en"]
    return [PROJECT / "locale" / language / "LC_MESSAGES" / "django.po" for language in languages]


def _read(path: Path) -> Catalog:
    if not path.exists():
        return Catalog(locale=path.parts[-3], project="Fuseboard", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def update() -> None:
    """Bring the .po files up to date with the sources. Translations of strings that are gone are dropped."""
    found = marked()
    for path in po_files():
        catalog = _read(path)
        catalog.update(found, no_fuzzy_matching=True, update_creation_date=False)
        catalog.obsolete.clear()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            # Without line numbers: they change with every edit and fill diffs with nothing.
            write_po(file, catalog, sort_by_file=True, include_lineno=False, width=120)


def problems() -> list[str]:
    """One sentence for each string that is missing, untranslated, doubtful, or translated with other placeholders."""
    found, told = marked(), []
    for path in po_files():
        catalog, name = _read(path), str(path.relative_to(PROJECT))
        for message in found:
            if not message.id:
                continue
            one = message.id if isinstance(message.id, str) else message.id[0]
            place = f"{message.locations[0][0]}:{message.locations[0][1]}" if message.locations else "?"
            have = catalog.get(one, message.context)
            if have is None:
                told.append(f"{name}: {one!r} ({place}) is not there; run make i18n")
                continue
            texts = [have.string] if isinstance(have.string, str) else list(have.string or [""])
            if have.fuzzy or not all(texts):
                told.append(f"{name}: {one!r} ({place}) is not translated")
                continue
            wanted = {
                match.group()
                for text in ([one] if isinstance(message.id, str) else message.id)
                for match in PLACEHOLDER.finditer(text)
            }
            for text in texts:
                if not {match.group() for match in PLACEHOLDER.finditer(text)} <= wanted:
                    told.append(f"{name}: {one!r} ({place}) has another placeholder in its translation {text!r}")
    return told
