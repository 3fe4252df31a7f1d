"""Where the site is and who we are: options, then environment, then the file that ``fuseboard login`` wrote.

The file is ``$XDG_CONFIG_HOME/fuseboard/config.json`` (0600 in a 0700 folder)::

    {"default": "https://bench.example", "sites": {"https://bench.example": {"token": "...", "user": "mei"}}}
"""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

#: Every variable the command reads, and what it is for; docs/cli.md lists the same (tested).
ENVIRONMENT = {
    "FUSEBOARD_URL": "address of the site",
    "FUSEBOARD_TOKEN": "token for FUSEBOARD_URL (for any site, if FUSEBOARD_URL is not set)",
    "FUSEBOARD_TOKEN_FILE": "a file that holds the token",
    "FUSEBOARD_OUTBOX": "folder of what could not be sent yet",
    "FUSEBOARD_GIVE_UP_AFTER": "seconds after which a push stops trying and keeps the rest in the outbox",
}


class SettingsError(Exception):
    """A setting is missing or wrong; the message says which and what to do."""


@dataclass(frozen=True)
class Site:
    """An address and, where there is one, the token for it."""

    url: str
    token: str | None = None
    #: Where the token was found, in words for a message about it.
    token_from: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:  # a traceback or a log line must not hold the token
        return f"Site(url={self.url!r}, token={'...' if self.token else None})"


def clean_url(text: str) -> str:
    """The address without a trailing slash; raises SettingsError naming what is wrong with it."""
    try:
        parts = urlsplit(text.strip())
        parts.port  # noqa: B018  raises ValueError for "http://host:80a"
    except ValueError as error:
        raise SettingsError(f"{text!r} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{text!r} is not an address; write it with its scheme, e.g. http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise SettingsError("the address holds a user name or password; leave it out and use a token")
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/"), "", ""))


def config_file(env: Mapping[str, str] | None = None) -> Path:
    """Where ``login`` keeps addresses and tokens."""
    return _xdg(os.environ if env is None else env, "XDG_CONFIG_HOME", ".config") / "fuseboard" / "config.json"


def outbox_folder(env: Mapping[str, str] | None = None) -> Path:
    """Where what could not be sent is kept."""
    env = os.environ if env is None else env
    if given := env.get("FUSEBOARD_OUTBOX"):
        return Path(given).expanduser()
    return _xdg(env, "XDG_STATE_HOME", ".local/state") / "fuseboard" / "outbox"


def _xdg(env: Mapping[str, str], name: str, otherwise: str) -> Path:
    given = env.get(name, "")
    # The XDG specification: a relative path is invalid and must be ignored.
    return Path(given) if given and os.path.isabs(given) else Path.home() / otherwise


def give_up_after(option: float | None, env: Mapping[str, str] | None = None) -> float:
    """Seconds a push goes on trying: the option, FUSEBOARD_GIVE_UP_AFTER, or 60."""
    if option is not None:
        return option
    text = (os.environ if env is None else env).get("FUSEBOARD_GIVE_UP_AFTER", "").strip()
    if not text:
        return 60.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise SettingsError(f"FUSEBOARD_GIVE_UP_AFTER is {text!r}; it takes seconds from 0 to 86400")
    return seconds


def resolve(
    url: str | None = None, token: str | None = None, *, env: Mapping[str, str] | None = None, path: Path | None = None
) -> Site:
    """The site to talk to; raises SettingsError if no address is known or a given one is wrong."""
    env = os.environ if env is None else env
    config = _read(path or config_file(env))
    address = url or env.get("FUSEBOARD_URL") or config.get("default")
    if not address:
        raise SettingsError("no site is known: run `fuseboard login URL`, or set FUSEBOARD_URL and FUSEBOARD_TOKEN")
    address = clean_url(address)
    return Site(address, token, "--token") if token else site_for(address, env=env, path=path)


def token_for(url: str, *, env: Mapping[str, str] | None = None, path: Path | None = None) -> str | None:
    """The token that belongs to ``url``, if any: no site ever sees another site's token."""
    return site_for(url, env=env, path=path).token


def site_for(url: str, *, env: Mapping[str, str] | None = None, path: Path | None = None) -> Site:
    """The site at ``url`` with the token that belongs to it, if there is one, and where that was found."""
    env = os.environ if env is None else env
    named = env.get("FUSEBOARD_URL")
    if not named or clean_url(named) == url:
        if given := env.get("FUSEBOARD_TOKEN", "").strip():
            return Site(url, given, "FUSEBOARD_TOKEN")
        if file := env.get("FUSEBOARD_TOKEN_FILE"):
            try:
                held = Path(file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"FUSEBOARD_TOKEN_FILE cannot be read: {error}") from None
            return Site(url, held, f"FUSEBOARD_TOKEN_FILE ({file})") if held else Site(url)
    kept = path or config_file(env)
    saved = _read(kept).get("sites", {}).get(url, {})
    found = saved.get("token") if isinstance(saved, dict) else None
    return Site(url, found, f"the login file {kept}") if isinstance(found, str) and found else Site(url)


def save(site: Site, *, path: Path | None = None, **about: str | None) -> Path:
    """Remember a site, its token and what it said about us; it becomes the default. Returns the file's path."""
    path = path or config_file()
    config = _read(path)
    config["default"] = site.url
    config.setdefault("sites", {})[site.url] = {"token": site.token, **about}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
    return path


def readable_by_others(path: Path | None = None) -> bool:
    """True if somebody else on the machine could read the saved tokens."""
    try:
        return bool(stat.S_IMODE((path or config_file()).stat().st_mode) & 0o077)
    except OSError:
        return False


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} cannot be read ({error}); mend or delete it, then run `fuseboard login URL`"
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get("sites", {}), dict):
        raise SettingsError(f"{path} is not a fuseboard configuration; delete it, then run `fuseboard login URL`")
    return found
