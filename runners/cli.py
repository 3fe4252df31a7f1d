"""The ``fuseboard`` command. What it does is in ``runners/commands``, one file a command."""

import typer

from runners.commands import compare, login, outbox, push, schema, version

app = typer.Typer(
    name="fuseboard",
    help="Send LLM-inference benchmark results to a Fuseboard site, and read its comparisons.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # a traceback with locals would print the token
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(login.login)
app.command(epilog=push.EPILOG)(push.push)
app.add_typer(outbox.app, name="outbox")
app.command()(compare.compare)
app.command()(schema.schema)
app.command()(version.version)


def main() -> None:
    """Entry point of the distribution."""
    app()


if __name__ == "__main__":
    main()
