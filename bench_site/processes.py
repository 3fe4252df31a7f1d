"""Processes on this machine: which ones work in a folder, and children that do not outlive their parent."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)  # loaded here: a forked child must not load libraries
_PR_SET_PDEATHSIG = 1


def die_with_parent(number: int) -> Callable[[], None]:
    """For `preexec_fn`: the kernel sends `number` to the child when its parent is gone, even by kill -9."""

    def ask_kernel() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)

    return ask_kernel


def alive(pid: int) -> bool:
    """True unless the process is gone or a zombie (dead, and not yet collected by its parent)."""
    try:
        # "12 (name with ) in it) S 1 ...": the state follows the last parenthesis.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def of_database(data: Path, cluster: str) -> list[int]:
    """Live processes of the PostgreSQL server on `data`: the postmaster, and children also after its death.

    Known by their command lines: the postmaster's names the folder, its children rename themselves to
    "postgres: CLUSTER: what they do". Their working directory would be a surer sign, but in a container root may not
    read that of another account's process. Somebody else's look-alike does not count: the owner must be the data's.
    """
    try:
        owner = data.stat().st_uid
    except FileNotFoundError:
        return []
    title, folder, found = f"postgres: {cluster}: ".encode(), os.fsencode(data), []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid != owner:
                    continue
                line = Path(entry.path, "cmdline").read_bytes()
            except OSError:
                continue  # ended meanwhile
            words = line.split(b"\0")
            postmaster = words[0].endswith(b"/postgres") and words[1:3] == [b"-D", folder]
            if (postmaster or line.startswith(title)) and alive(int(entry.name)):
                found.append(int(entry.name))
    return sorted(found)


def group_alive(group: int) -> bool:
    """Whether a process group has a live member; zombies do not count."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(f"/proc/{entry.name}/stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[2]) == group and fields[0] not in "ZX":
                return True
    return False
