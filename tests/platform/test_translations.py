"""Strings are found and checked without gettext."""

from pathlib import Path

import pytest

from bench_site import translations

PO = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "Runs"
msgstr "运行"

msgid "%(n)s of them"
msgstr "共 %(m)s 个"

#, fuzzy
msgid "Doubtful"
msgstr "可疑"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "templates").mkdir()
    (tmp_path / "bench_site").mkdir()
    (tmp_path / "bench_site" / "a.py").write_text('_("Runs")\n_("Doubtful")\n', encoding="utf-8")
    (tmp_path / "templates" / "a.html").write_text(
        "{% load i18n %}{% translate 'In a template' %}"
        "{% blocktranslate %}{{ n }} of them{% endblocktranslate %}{# plain text is not found #}",
        encoding="utf-8",
    )
    folder = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.po").write_text(PO, encoding="utf-8")
    monkeypatch.setattr(translations, "PROJECT", tmp_path)
    return tmp_path


def test_missing_doubtful_and_damaged_translations_are_named(project: Path) -> None:
    told = sorted(translations.problems())
    assert [line.split(": ", 1)[1] for line in told] == [
        "'%(n)s of them' (templates/a.html:1) has another placeholder in its translation '共 %(m)s 个'",
        "'Doubtful' (bench_site/a.py:2) is not translated",
        "'In a template' (templates/a.html:1) is not there; run make i18n",
    ]


def test_new_strings_are_written_and_translations_kept(project: Path) -> None:
    translations.update()
    text = (project / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po").read_text(encoding="utf-8")
    assert 'msgid "In a template"\nmsgstr ""' in text
    assert 'msgid "Runs"\nmsgstr "运行"' in text
