"""Address and token: option, environment, file; and no site sees another site's token."""

import json
import stat

import pytest

from runners import settings
from runners.settings import SettingsError, Site, clean_url, resolve, save, token_for


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        (" https://Bench.Example/fuse/ ", "https://bench.example/fuse"),
        ("http://[::1]:8000/?a=b#c", "http://[::1]:8000"),
    ],
)
def test_an_address_is_cleaned(given, clean):
    assert clean_url(given) == clean


@pytest.mark.parametrize(
    "given", ["", "bench.example", "ftp://x", "http://", "http://a:b@x", "http://x:port", "file:///etc"]
)
def test_what_is_no_address_says_so(given):
    with pytest.raises(SettingsError):
        clean_url(given)


def test_option_before_environment_before_file(home):
    path = save(Site("http://saved", "fb_saved"))
    assert resolve(env={}, path=path) == Site("http://saved", "fb_saved")
    env = {"FUSEBOARD_URL": "http://env", "FUSEBOARD_TOKEN": "fb_env"}
    assert resolve(env=env, path=path) == Site("http://env", "fb_env")
    assert resolve("http://option", "fb_option", env=env, path=path) == Site("http://option", "fb_option")


def test_a_token_goes_to_its_own_site_only(home):
    path = save(Site("http://saved", "fb_saved"))
    env = {"FUSEBOARD_URL": "http://env", "FUSEBOARD_TOKEN": "fb_env"}
    assert token_for("http://saved", env=env, path=path) == "fb_saved"
    assert token_for("http://third", env=env, path=path) is None
    assert resolve("http://third", env=env, path=path).token is None


def test_a_token_from_a_file(home, tmp_path):
    (tmp_path / "token").write_text("fb_file\n")
    env = {"FUSEBOARD_URL": "http://env", "FUSEBOARD_TOKEN_FILE": str(tmp_path / "token")}
    assert token_for("http://env", env=env) == "fb_file"
    with pytest.raises(SettingsError, match="FUSEBOARD_TOKEN_FILE"):
        token_for("http://env", env={"FUSEBOARD_TOKEN_FILE": str(tmp_path / "nothing")})


def test_no_site_is_known(home):
    with pytest.raises(SettingsError, match="fuseboard login"):
        resolve(env={})


def test_the_file_is_for_the_owner_alone_and_keeps_every_site(home):
    save(Site("http://one", "fb_1"))
    path = save(Site("http://two", "fb_2"), user="mei")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    saved = json.loads(path.read_text())
    assert saved["default"] == "http://two"
    assert set(saved["sites"]) == {"http://one", "http://two"}
    assert [item.name for item in path.parent.iterdir()] == ["config.json"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"sites": 3}', "\x00"])
def test_a_broken_file_names_itself_and_the_way_out(home, content):
    path = save(Site("http://one", "fb_1"))
    path.write_text(content)
    with pytest.raises(SettingsError, match=r"config\.json.*fuseboard login"):
        resolve(env={}, path=path)


def test_a_token_is_never_in_a_repr():
    assert "fb_secret" not in repr(Site("http://one", "fb_secret"))


def test_the_outbox_follows_xdg(home, monkeypatch):
    assert str(settings.outbox_folder({"XDG_STATE_HOME": "/state"})) == "/state/fuseboard/outbox"
    assert str(settings.outbox_folder({"FUSEBOARD_OUTBOX": "/else"})) == "/else"
    relative = settings.outbox_folder({"XDG_STATE_HOME": "relative"})
    assert relative.is_absolute()
    assert str(relative).endswith(".local/state/fuseboard/outbox")


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "1e9", "inf"])
def test_patience_is_seconds(text):
    with pytest.raises(SettingsError, match="FUSEBOARD_GIVE_UP_AFTER"):
        settings.give_up_after(None, {"FUSEBOARD_GIVE_UP_AFTER": text})
    assert settings.give_up_after(None, {"FUSEBOARD_GIVE_UP_AFTER": "5"}) == 5
    assert settings.give_up_after(2.0, {"FUSEBOARD_GIVE_UP_AFTER": text}) == 2
    assert settings.give_up_after(None, {}) == 60
