"""Settings come from the environment, and a misspelt one stops the process with a sentence."""

import stat
from pathlib import Path

import pytest

from bench_site.env import BadSetting, Env, home_folder, postgres_from_url, secret_kept_in


@pytest.mark.parametrize(("text", "value"), [("true", True), ("Yes", True), ("1", True), ("off", False), ("0", False)])
def test_a_boolean_is_read(text: str, value: bool) -> None:
    assert Env({"DEBUG": text}).boolean("DEBUG", not value) is value


@pytest.mark.parametrize("text", ["flase", "ture", "2", "y", "None"])
def test_a_misspelt_boolean_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match=r"DEBUG=.*use true or false"):
        Env({"DEBUG": text}).boolean("DEBUG", False)


@pytest.mark.parametrize("source", [{}, {"DEBUG": ""}, {"DEBUG": "  "}])
def test_unset_and_empty_are_the_default(source: dict[str, str]) -> None:
    assert Env(source).boolean("DEBUG", True) is True
    assert Env(source).integer("DEBUG", 7) == 7
    assert Env(source).words("DEBUG", ["a"]) == ["a"]


@pytest.mark.parametrize("text", ["8k", "1_000", "٣", "1e3", "-1", "70000", "--1", "9" * 5000])
def test_a_number_that_is_none_or_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match=r"PORT=.*from 1 to 65535"):
        Env({"PORT": text}).integer("PORT", 8000, least=1, most=65535)


def test_words_are_separated_by_commas() -> None:
    assert Env({"ALLOWED_HOSTS": " a.example, b.example ,,"}).words("ALLOWED_HOSTS") == ["a.example", "b.example"]


def test_a_url_of_another_kind_is_refused_without_telling_its_password() -> None:
    with pytest.raises(BadSetting) as refused:
        Env({"DATABASE_URL": "mysql://u:hunter2@h/db"}).url("DATABASE_URL", schemes=("postgresql",))
    assert "hunter2" not in str(refused.value)
    assert "postgresql://" in str(refused.value)


def test_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("s3cret\n")
    assert Env({"KEY_FILE": str(file)}).secret("KEY") == "s3cret"


def test_a_secret_given_twice_or_not_at_all_in_its_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for source in (
        {"KEY": "a", "KEY_FILE": "/x"},
        {"KEY_FILE": str(tmp_path / "empty")},
        {"KEY_FILE": str(tmp_path / "absent")},
    ):
        with pytest.raises(BadSetting, match="KEY_FILE"):
            Env(source).secret("KEY")


def test_a_database_url_is_taken_apart() -> None:
    assert postgres_from_url("postgresql://u%40x:p%2Fw@db.example:5433/fuse?sslmode=require") == {
        "NAME": "fuse",
        "USER": "u@x",
        "PASSWORD": "p/w",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


def test_a_database_url_may_name_a_socket_folder() -> None:
    assert postgres_from_url("postgresql://u@/fuse?host=/run/pg")["HOST"] == "/run/pg"


@pytest.mark.parametrize("url", ["postgresql://u@h", "postgresql://u@h:port/fuse"])
def test_an_incomplete_database_url_is_refused(url: str) -> None:
    with pytest.raises(BadSetting, match="DATABASE_URL"):
        postgres_from_url(url)


def test_a_kept_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"
    first = secret_kept_in(path)
    assert len(first) >= 32
    assert secret_kept_in(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["secret_key"]


def test_a_cut_secret_file_is_not_used_as_a_key(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"
    path.write_text("short")
    with pytest.raises(BadSetting, match="remove it"):
        secret_kept_in(path)


def test_the_home_is_made_for_its_owner_alone_and_an_existing_one_is_left_as_it_is(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir(mode=0o755)
    for home in (new, old):
        assert home_folder(Env({"FUSEBOARD_HOME": str(home)}), tmp_path) == home
    assert stat.S_IMODE(new.stat().st_mode) == 0o700
    assert stat.S_IMODE(old.stat().st_mode) == 0o755


def test_a_home_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadSetting, match="FUSEBOARD_HOME"):
        home_folder(Env({"FUSEBOARD_HOME": str(tmp_path / "file" / "x")}), tmp_path)
