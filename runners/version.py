"""The version of the installed distribution, and the name under which the client introduces itself."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """The distribution's version; ``0+source`` when the code runs from a folder that was never installed."""
    try:
        return installed("fuseboard")
    except PackageNotFoundError:
        return "0+source"
