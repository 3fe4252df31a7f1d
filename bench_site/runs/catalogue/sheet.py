"""Reading a CSV file that a person may have edited: every error at once, each with its line and column."""

import csv
import io
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

#: Turns a cell that is not empty into a value; raises ValueError with what is allowed.
Cell = Callable[[str], Any]
Row = dict[str, Any]


class SheetError(ValueError):
    """A CSV file cannot be used; ``errors`` holds one sentence for each wrong cell."""

    def __init__(self, errors: list[str]) -> None:
        self.errors = errors
        super().__init__("\n".join(errors))


def read_sheet(text: str, columns: Mapping[str, Cell], *, name: str, required: frozenset[str]) -> list[Row]:
    """The rows of ``text``, each with its ``line``; an empty cell is None, and refused in a ``required`` column.

    Raises SheetError for a missing or unknown column, a row of the wrong width and every cell that is not understood.
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    errors: list[str] = []
    rows: list[Row] = []
    header: list[str] = []
    line = 1
    try:
        header = next(reader, [])
        _check_header(header, columns, name)
        while True:
            line = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                break
            if cells:
                rows.append(_row(cells, header, columns, required, f"{name} line {line}", errors) | {"line": line})
    except csv.Error as why:
        errors.append(f"{name} line {line}: {why}")
    if errors:
        raise SheetError(errors)
    return rows


def _check_header(header: list[str], columns: Mapping[str, Cell], name: str) -> None:
    errors = [f"{name} line 1: the column {column} is missing" for column in columns if column not in header]
    errors += [
        f"{name} line 1, column {column or '(no name)'}: unknown; allowed are {', '.join(columns)}"
        for column in header
        if column not in columns
    ]
    errors += [f"{name} line 1, column {column}: twice" for column in columns if header.count(column) > 1]
    if errors:
        raise SheetError(errors)


def _row(
    cells: list[str], header: list[str], columns: Mapping[str, Cell], required: frozenset[str], place: str,
    errors: list[str],
) -> Row:  # fmt: skip
    if len(cells) != len(header):
        errors.append(f"{place}: has {len(cells)} cells, the first line has {len(header)}")
        return {}
    row: Row = {}
    for column, cell in zip(header, cells, strict=True):
        try:
            row[column] = columns[column](_shown(cell)) if cell.strip() else None
        except ValueError as why:
            errors.append(f"{place}, column {column}: {cell!r} {why}")
        else:
            if row[column] is None and column in required:
                errors.append(f"{place}, column {column}: must not be empty")
    return row


def _shown(cell: str) -> str:
    """The cell without the apostrophe that our own CSV files put before text that a spreadsheet would calculate."""
    cell = cell.strip()
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@\t\r" else cell


def text(cell: str) -> str:
    """Any text."""
    if "\x00" in cell:
        raise ValueError("contains a NUL character")
    return cell


def decimal(cell: str) -> Decimal:
    """A decimal number above zero, without exponent or thousands separator."""
    try:
        value = Decimal(cell)
    except InvalidOperation:
        raise ValueError("is not a decimal number such as 2.05") from None
    if not value.is_finite() or value <= 0:
        raise ValueError("must be above 0; leave the cell empty where the value is unknown")
    return value


def number(cell: str) -> float:
    """A number above zero: unknown is an empty cell, never 0."""
    return float(decimal(cell))


def whole(cell: str) -> int:
    """A whole number above zero."""
    value = decimal(cell)
    if value != int(value):
        raise ValueError("is not a whole number")
    return int(value)


def day(cell: str) -> date:
    """A date as 2026-09-01."""
    try:
        return date.fromisoformat(cell)
    except ValueError:
        raise ValueError("is not a date such as 2026-09-01") from None


def currency(cell: str) -> str:
    """An ISO 4217 code."""
    if len(cell) != 3 or not (cell.isascii() and cell.isalpha() and cell.isupper()):
        raise ValueError("is not a currency code such as USD or CNY")
    return cell


def one_of(*words: str) -> Cell:
    """One of ``words``."""

    def check(cell: str) -> str:
        if cell not in words:
            raise ValueError(f"is not one of {', '.join(words)}")
        return cell

    return check
