"""How long ``fuseboard`` takes to answer: ``python bench/cli_start.py [TIMES]``. The aim for ``--help`` is under 0.3 s.

A table on stdout, milliseconds of wall time in fresh processes with the bytecode in place, as on an installed machine.
``python -c pass`` is the part that no program can avoid.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "fuseboard --help": ["-m", "runners.cli", "--help"],
    "fuseboard push --help": ["-m", "runners.cli", "push", "--help"],
    "fuseboard version": ["-m", "runners.cli", "version"],
    "fuseboard schema": ["-m", "runners.cli", "schema"],
    "fuseboard outbox": ["-m", "runners.cli", "outbox"],
}


def measure(arguments: list[str], times: int, environment: dict[str, str]) -> list[float]:
    """Wall seconds of each start; one more before them, unmeasured, writes the bytecode."""
    taken = []
    for _ in range(times + 1):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - began)
    return taken[1:]


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"FUSEBOARD_OUTBOX": f"{folder}/outbox", "PYTHONPATH": os.getcwd()}
        print(f"{'command':24} {'min ms':>8} {'median':>8} {'max':>8}   ({times} starts each)")
        for name, arguments in COMMANDS.items():
            taken = [seconds * 1000 for seconds in measure(arguments, times, environment)]
            print(f"{name:24} {min(taken):8.0f} {statistics.median(taken):8.0f} {max(taken):8.0f}")


if __name__ == "__main__":
    main()
