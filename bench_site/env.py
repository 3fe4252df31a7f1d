"""Strict reading of environment variables.

A setting that is misspelt must stop the process with a sentence, not turn into a default: `DEBUG=flase` read as "true"
(or as "false") is how a site ends up open. Every helper raises `BadSetting`, which names the variable, what was found
and what is allowed. A variable that is set but empty counts as unset, because compose files pass `X=${X:-}`.
"""

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})


class BadSetting(ImproperlyConfigured):
    """An environment variable holds something that its setting does not allow."""

    def __init__(self, name: str, found: str, allowed: str) -> None:
        self.name = name
        super().__init__(f"{name}={found!r} is not allowed here: {allowed}.")


class Env:
    """The environment, or in tests any mapping."""

    def __init__(self, source: Mapping[str, str] | None = None) -> None:
        self.source: Mapping[str, str] = os.environ if source is None else source

    def text(self, name: str, default: str = "") -> str:
        return self.source.get(name, "").strip() or default

    def boolean(self, name: str, default: bool) -> bool:
        found = self.text(name).lower()
        if not found:
            return default
        if found in TRUE:
            return True
        if found in FALSE:
            return False
        raise BadSetting(name, self.source[name], "use true or false (also 1/0, yes/no, on/off)")

    def integer(self, name: str, default: int, *, least: int = 0, most: int = 2**31 - 1) -> int:
        found = self.text(name)
        if not found:
            return default
        # int() also takes "1_000" and "٣"; a setting should look like what it is.
        digits = found.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20) or not least <= int(found) <= most:
            raise BadSetting(name, found, f"use a whole number from {least} to {most}")
        return int(found)

    def words(self, name: str, default: list[str] | None = None) -> list[str]:
        """A list separated by commas."""
        found = self.text(name)
        return [word.strip() for word in found.split(",") if word.strip()] if found else list(default or [])

    def url(self, name: str, *, schemes: tuple[str, ...], default: str = "") -> str:
        found = self.secret(name)
        if not found:
            return default
        scheme = found.split("://", 1)[0] if "://" in found else ""
        if scheme not in schemes:
            # Only the scheme is repeated: the rest of a URL often holds a password.
            raise BadSetting(
                name, f"{scheme}://..." if scheme else "...", f"use a URL that begins with {_either(schemes)}"
            )
        return found

    def secret(self, name: str, default: str = "") -> str:
        """`X`, or the first line of the file that `X_FILE` names (as Docker and systemd hand over secrets)."""
        direct, path = self.text(name), self.text(f"{name}_FILE")
        if direct and path:
            raise BadSetting(f"{name}_FILE", path, f"{name} is set as well; set one of the two")
        if not path:
            return direct or default
        try:
            found = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as why:
            raise BadSetting(f"{name}_FILE", path, f"the file must be readable text ({why})") from why
        if not found:
            raise BadSetting(f"{name}_FILE", path, "the file is empty")
        return found


def _either(schemes: tuple[str, ...]) -> str:
    return " or ".join(f"{scheme}://" for scheme in schemes)


def postgres_from_url(url: str) -> dict[str, object]:
    """Django's connection parameters from `postgresql://user:password@host:port/name?sslmode=require`.

    A host that begins with `/` (a socket folder) is written `?host=/path`, as libpq does.
    """
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as why:
        raise BadSetting("DATABASE_URL", "...", f"its port must be a number from 1 to 65535 ({why})") from why
    options: dict[str, str] = {}
    for pair in filter(None, parts.query.split("&")):
        key, _, value = pair.partition("=")
        options[key] = unquote(value)
    name = unquote(parts.path.removeprefix("/"))
    if not name:
        raise BadSetting(
            "DATABASE_URL", f"{parts.scheme}://...", "it must end with the database's name, as in .../fuseboard"
        )
    return {
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or options.pop("port", "")),
        "OPTIONS": options,
    }


def home_folder(env: Env, project: Path) -> Path:
    """FUSEBOARD_HOME, absolute; created for its owner alone. An existing folder keeps its permissions."""
    home = Path(env.text("FUSEBOARD_HOME") or project / "var").expanduser().resolve()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / "tmp").mkdir(mode=0o700, exist_ok=True)
    except OSError as why:
        raise BadSetting(
            "FUSEBOARD_HOME", str(home), f"it must be a folder that this account can write ({why})"
        ) from why
    return home


def secret_kept_in(path: Path) -> str:
    """A random secret, made at the first call and read ever after; the file is for its owner alone.

    Several processes may start at once: each writes its own draft, and the first `link` wins for all.
    """
    if not path.exists():
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    found = path.read_text(encoding="utf-8").strip()
    if len(found) < 32:
        raise BadSetting(
            "FUSEBOARD_HOME", str(path), "this file should hold a generated secret; remove it to have a new one made"
        )
    return found
