"""``fuseboard version``"""

import platform

import typer


def version() -> None:
    """Print the versions of the runner, the report contract and Python."""
    from runners.contract.report import SCHEMA_VERSION
    from runners.version import version as installed

    typer.echo(f"fuseboard {installed()}, contract v{SCHEMA_VERSION}, Python {platform.python_version()}")
