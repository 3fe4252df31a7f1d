"""Why something is not stored: one exception that carries the problem document."""

from typing import Any

from runners.contract.problems import FieldError, Problem, problem


class Refusal(Exception):
    """Nothing was stored; ``problem`` says why and what to do, ``retry_after`` when (seconds)."""

    def __init__(self, found: Problem, retry_after: int | None = None) -> None:
        super().__init__(f"{found.title}: {found.detail}")
        self.problem = found
        self.retry_after = retry_after


def refuse(
    code: str, detail: str, errors: list[FieldError] | None = None, *, remedy: str | None = None, **extra: Any
) -> Refusal:
    """The refusal for ``code`` of ``runners.contract.problems``, to be raised; ``remedy`` if the usual one misleads."""
    found = problem(code, detail, errors, **extra)
    return Refusal(found.model_copy(update={"remedy": remedy}) if remedy else found)


def field_error(path: str, code: str, message: str, found: object = None, allowed: str | None = None) -> FieldError:
    """One wrong field; ``found`` is shortened to what fits a line."""
    return FieldError(path=path, code=code, message=message, found=shown(found), allowed=allowed)


def shown(value: object, limit: int = 120) -> str | None:
    """``value`` as a person may read it in an error; None stays None."""
    if value is None:
        return None
    if isinstance(value, dict):
        text = f"an object with {len(value)} keys"
    elif isinstance(value, list):
        text = f"a list of {len(value)}"
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = f'"{value[: limit + 1]}"' if len(value) <= limit else f'"{value[:limit]}…" ({len(value):,} characters)'
    elif isinstance(value, int) and value.bit_length() > 256:
        text = f"an integer of {value.bit_length()} bits"  # its digits take quadratic time and help nobody
    else:
        text = str(value)
    # Must leave as UTF-8 whatever came in.
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\u0000")
