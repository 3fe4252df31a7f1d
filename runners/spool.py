"""The outbox: what has to reach a site is on disk before the first try, and leaves only after the site's last word.

One file an entry: a line of JSON (address, query, name, sha256 of the body), then the body byte for byte. An entry is
written under a temporary name, fsynced and renamed, and never changed afterwards, so that a process killed at any
instant leaves either a whole entry or none. Its name is derived from what it would send: pushing the same thing twice
is one entry. Whoever works on an entry holds its flock, which the kernel lets go of when the process dies.

Sending an entry twice is harmless (the site knows a report by its id and a file by its bytes), so nothing here needs to
survive between the site's answer and the removal. Tokens are never written.

    <root>/<id>.entry          waiting
    <root>/<id>.last           why it still waits (a convenience, may be absent)
    <root>/refused/<id>.entry  refused for good, with <id>.json, the problem
    <root>/<id>.<random>.tmp   being written, or left by a killed process (removed by the next command)
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Endpoint = Literal["runs", "batch", "uploads"]
_VERSION = 1
#: An entry's first line is at most this long: the contract's longest context is about 250 kB.
_MAX_HEADER = 4 * 1024 * 1024


class OutboxError(Exception):
    """The outbox cannot be used, or an id is not in it; the message says what to do."""


class Gone(Exception):
    """Another process has dealt with the entry meanwhile."""


class Busy(Exception):
    """Another process is dealing with the entry."""


class Damaged(Exception):
    """The file is not an entry, or its body is not what was written (a failing disk, an edit by hand)."""


@dataclass(frozen=True)
class Entry:
    """Something to send. ``size`` is bytes of the body; ``created`` nanoseconds since 1970, the order of sending."""

    id: str
    url: str
    endpoint: Endpoint
    name: str
    query: tuple[tuple[str, str], ...]
    sha256: str
    size: int
    created: int
    #: Found by walking a folder, not named by a person: an unknown file is passed over instead of refused.
    found: bool = False

    @property
    def since(self) -> datetime:
        """When it was put here (UTC)."""
        return datetime.fromtimestamp(self.created / 1e9, UTC)


class Claim:
    """An entry that this process alone works on."""

    def __init__(self, outbox: "Outbox", entry: Entry, descriptor: int) -> None:
        self.entry = entry
        self._outbox = outbox
        self._descriptor = descriptor

    def body(self) -> bytes:
        """The bytes to send; raises Damaged if they are not those that were written."""
        with open(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            file.readline(_MAX_HEADER)
            body = file.read()
        if hashlib.sha256(body).hexdigest() != self.entry.sha256:
            raise Damaged(f"{self.entry.name}: its body is not what was written; push the original again")
        return body

    def done(self) -> None:
        """The site has it: forget it. Not fsynced: an entry that reappears after a power cut is only sent again."""
        self._outbox.forget(self.entry.id)

    def kept(self, reason: str) -> None:
        """It waits for another time; ``reason`` is shown in the list."""
        note = json.dumps({"at": datetime.now(UTC).isoformat(timespec="seconds"), "reason": reason})
        with suppress(OSError):  # on a full disk the entry still matters more than why it waits
            _write(self._outbox.root / f"{self.entry.id}.last", note.encode(), durable=False)

    def refuse(self, problem: dict[str, Any]) -> None:
        """The site will never take it: set it aside with the reason. The reason first, so that it is never missing."""
        aside = self._outbox.root / "refused"
        note = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "problem": problem}
        _write(aside / f"{self.entry.id}.json", json.dumps(note, ensure_ascii=False, indent=1).encode(), durable=True)
        os.replace(self._outbox.path(self.entry.id), aside / f"{self.entry.id}.entry")
        (self._outbox.root / f"{self.entry.id}.last").unlink(missing_ok=True)
        _sync(aside)
        _sync(self._outbox.root)


class Outbox:
    """The folder; made on first use (0700). Raises OutboxError if it cannot be used."""

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            (root / "refused").mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise OutboxError(f"the outbox {root} cannot be used: {error}; FUSEBOARD_OUTBOX names another") from None
        self._clean()

    def path(self, entry_id: str) -> Path:
        """Where a waiting entry lies."""
        return self.root / f"{entry_id}.entry"

    def add(
        self, body: bytes, *, url: str, endpoint: Endpoint, name: str, query: list[tuple[str, str]], found: bool = False
    ) -> Entry:
        """Write an entry and fsync it; call ``sync`` before the first try. The same content again is the same entry."""
        digest = hashlib.sha256(body).hexdigest()
        what = json.dumps([url, endpoint == "uploads", query, digest])
        entry_id = hashlib.sha256(what.encode()).hexdigest()[:32]
        try:
            return self._read(self.path(entry_id))
        except (FileNotFoundError, Damaged):
            pass  # not there, or not usable: written (again)
        made = Entry(entry_id, url, endpoint, name, tuple(query), digest, len(body), time.time_ns(), found)
        header = json.dumps({"version": _VERSION, **asdict(made)}).encode() + b"\n"
        try:
            _write(self.path(entry_id), header, body, durable=True)
        except OSError as error:
            raise OutboxError(f"{name} cannot be kept in the outbox {self.root}: {error}") from None
        return made

    def sync(self) -> None:
        """Make the names of added entries durable."""
        _sync(self.root)

    def waiting(self) -> list[Entry]:
        """What has not been sent, oldest first. Files that are no entries are left out; see ``damaged``."""
        return self._list(self.root)

    def refused(self) -> list[tuple[Entry, dict[str, Any]]]:
        """What was refused, oldest first, with {"at", "problem"}."""
        return [
            (entry, self._note(self.root / "refused" / f"{entry.id}.json"))
            for entry in self._list(self.root / "refused")
        ]

    def damaged(self) -> list[Path]:
        """Files that look like entries and are none."""
        return [path for path in sorted(self.root.glob("**/*.entry")) if not self._is_entry(path)]

    def last(self, entry: Entry) -> dict[str, Any]:
        """{"at", "reason"} of the last try, or nothing."""
        return self._note(self.root / f"{entry.id}.last")

    @contextmanager
    def claim(self, entry: Entry) -> Iterator[Claim]:
        """Work on an entry alone; raises Busy or Gone."""
        try:
            descriptor = os.open(self.path(entry.id), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise Gone from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy from None
            # Between open and flock the file may have been sent and removed: the lock would be on a nameless inode.
            if not _is_named(descriptor, self.path(entry.id)):
                raise Gone
            yield Claim(self, entry, descriptor)
        finally:
            os.close(descriptor)

    def find(self, prefix: str) -> str:
        """The one id that begins with ``prefix``, waiting or refused; raises OutboxError if none or several do."""
        if not prefix or not prefix.isalnum():
            raise OutboxError(f"{prefix!r} is not an id; `fuseboard outbox` lists them")
        ids = sorted({path.stem for path in self.root.glob(f"**/{prefix}*.entry")})
        if len(ids) == 1:
            return ids[0]
        if not ids:
            raise OutboxError(f"nothing in the outbox begins with {prefix}; `fuseboard outbox` lists it")
        raise OutboxError(f"{prefix} begins {len(ids)} ids ({', '.join(ids[:3])} ...); write more of it")

    def forget(self, entry_id: str) -> None:
        """Remove an entry wherever it is, with what was noted about it."""
        aside = self.root / "refused"
        for path in (
            self.path(entry_id),
            self.root / f"{entry_id}.last",
            aside / f"{entry_id}.entry",
            aside / f"{entry_id}.json",
        ):
            path.unlink(missing_ok=True)

    def supersede(self, delivered: set[tuple[str, str]]) -> None:
        """Forget refusals of what the site has taken since: (address, sha256 of the body), e.g. with another option."""
        for entry, _ in self.refused() if delivered else []:
            if (entry.url, entry.sha256) in delivered:
                self.forget(entry.id)

    def reconsider(self) -> int:
        """Put everything refused back among the waiting (a new token, a new version of the site); returns how many."""
        entries = self._list(self.root / "refused")
        for entry in entries:
            with suppress(FileNotFoundError):  # another process was quicker
                os.replace(self.root / "refused" / f"{entry.id}.entry", self.path(entry.id))
        self.sync()
        return len(entries)

    # ------------------------------------------------------------ files

    def _list(self, folder: Path) -> list[Entry]:
        found = []
        for path in folder.glob("*.entry"):
            with suppress(FileNotFoundError, Damaged):
                found.append(self._read(path))
        return sorted(found, key=lambda entry: (entry.created, entry.id))

    def _read(self, path: Path) -> Entry:
        with open(path, "rb") as file:
            line = file.readline(_MAX_HEADER)
            size = os.fstat(file.fileno()).st_size - len(line)
        try:
            header = json.loads(line)
            if header.pop("version") != _VERSION:
                raise Damaged(f"{path} was written by another version of fuseboard")
            header["query"] = tuple((str(key), str(value)) for key, value in header["query"])
            entry = Entry(**header)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise Damaged(f"{path} is not an outbox entry") from None
        if entry.id != path.stem or entry.size != size:
            raise Damaged(f"{path} is not whole")
        return entry

    def _is_entry(self, path: Path) -> bool:
        try:
            self._read(path)
        except Damaged:
            return False
        except FileNotFoundError:
            pass
        return True

    def _note(self, path: Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _clean(self) -> None:
        """Remove what killed processes left half written: a living writer holds the flock of its temporary file."""
        for path in [*self.root.glob("*.tmp"), *(self.root / "refused").glob("*.tmp")]:
            with suppress(FileNotFoundError):
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                except BlockingIOError:
                    pass
                finally:
                    os.close(descriptor)
        for path in self.root.glob("*.last"):
            if not path.with_suffix(".entry").exists():
                path.unlink(missing_ok=True)


def _write(path: Path, *parts: bytes, durable: bool) -> None:
    """Write a file so that its name never shows half of it (0600)."""
    while True:
        fresh = path.with_name(f"{path.stem}.{os.urandom(6).hex()}.tmp")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
                for part in parts:
                    file.write(part)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
                os.replace(fresh, path)
            return
        except FileNotFoundError:
            # A cleaner came between our open and our flock and took the file for a leftover.
            if not path.parent.is_dir():
                raise
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            raise


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
