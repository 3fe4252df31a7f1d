"""Field types of the report: every bound that keeps a number or a text storable and meaningful.

Units are SI: seconds, tokens per second, bytes, bytes per second, watts, joules.
"""

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

#: Everything PostgreSQL's bigint can hold.
MAX_COUNT = 2**63 - 1
#: Beyond this no benchmark figure is meaningful, and sums of squares still fit a double.
MAX_NUMBER = 1e18


def _printable(text: str) -> str:
    """Refuse NUL and lone surrogates: PostgreSQL can store neither."""
    if "\x00" in text:
        raise ValueError("contains a NUL character; remove it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("contains a lone surrogate; send valid Unicode") from None
    return text


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(_printable),
]
"""A short label, 1 to 200 characters."""
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
    AfterValidator(_printable),
]
"""One line of text, 1 to 2,000 characters."""
Notes = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000),
    AfterValidator(_printable),
]
"""Plain text, 1 to 20,000 characters."""
Digest = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=6, max_length=200), AfterValidator(_printable)
]
"""A content digest such as ``sha256:...`` or a commit, 6 to 200 characters."""

Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
"""How many, 0 to 2**63 - 1."""
PositiveCount = Annotated[int, Field(ge=1, le=MAX_COUNT)]
"""How many, at least 1."""
Seconds = Annotated[float, Field(ge=0, le=MAX_NUMBER)]
"""A time in seconds."""
Rate = Annotated[float, Field(ge=0, le=MAX_NUMBER)]
"""A rate per second of the whole system."""
Number = Annotated[float, Field(ge=0, le=MAX_NUMBER)]
"""A non-negative number; its unit is in the field's description."""
Share = Annotated[float, Field(ge=0, le=1)]
"""A fraction from 0 to 1."""
Money = Annotated[Decimal, Field(ge=0, max_digits=20, decimal_places=8)]
"""An amount of money as a decimal string."""


class Part(BaseModel):
    """Base of every object in a report: unknown keys and NaN or infinite numbers are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=False)
