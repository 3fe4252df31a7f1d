"""``fuseboard schema``"""

import typer


def schema() -> None:
    """Print the JSON Schema (2020-12) of a report."""
    from runners.contract.schema import schema_text

    typer.echo(schema_text(), nl=False)
