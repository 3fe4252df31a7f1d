"""Runs an embedded server as an account without rights, when the tests themselves run as root.

    python as_ordinary_user.py ACCOUNT BINARIES HOME

Everything is imported before the rights are given up, because the account may be unable to read this project's folder.
"""

import codecs
import contextlib
import json
import os
import pwd
import stat
import sys
from pathlib import Path

import psycopg

from bench_site import embedded


def main() -> None:
    account, binaries, home = pwd.getpwnam(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    codecs.lookup("ascii")
    with contextlib.suppress(psycopg.OperationalError):  # loads what the driver imports late
        psycopg.connect("host=/nonexistent")
    os.setgroups([])
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)
    os.chdir("/")
    server = embedded.EmbeddedPostgres(home, binaries=binaries)
    server.start()
    assert server.process is not None
    with psycopg.connect(embedded.dsn(home)) as site:
        (answer,) = site.execute("SELECT current_user").fetchone() or ("",)
    place = server.layout
    print(
        json.dumps(
            {
                "answer": answer,
                "owner": Path(f"/proc/{server.process.pid}").stat().st_uid,
                "base": str(place.base),
                "run_mode": stat.S_IMODE(place.run.stat().st_mode),
            }
        )
    )
    server.stop()


main()
