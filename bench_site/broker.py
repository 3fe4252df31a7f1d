"""The folders of the file-system broker."""

from pathlib import Path


def empty_broker(home: Path) -> None:
    """Every folder exists, and is empty.

    Messages are hints, so losing them costs at most one sweep. What must not stay is a control file that a full disk
    or a kill cut short: a worker that reads it dies at every start. Folders are emptied, not replaced, because the web
    server may be writing into them.
    """
    (home / "broker").mkdir(mode=0o700, exist_ok=True)
    for name in ("messages", "control", "processed"):
        folder = home / "broker" / name
        folder.mkdir(mode=0o700, exist_ok=True)
        for path in folder.iterdir():
            path.unlink(missing_ok=True)
