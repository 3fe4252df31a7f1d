"""What the catalogue's files hold: their columns, units and the factors to the units of the tables.

chips.csv          bandwidth in GB/s of 10**9 bytes/s, arithmetic in dense TFLOP/s of 10**12, power in watts, memory in
                   the unit of its source (``memory_unit``). Every figure has a source beside it; else no figure.
aliases.csv        under which other names files call a chip or model
models.csv         parameters as counts
prices.csv         money per chip and hour, by tier and day
exchange_rates.csv one unit of ``base`` costs ``rate`` units of ``quote``
claims.csv         published claims; output_tokens_per_s is the system's rate, tpot_s one user's seconds a token
"""

from importlib.resources import files

from bench_site.runs.catalogue.sheet import (
    Cell,
    Row,
    SheetError,
    currency,
    day,
    decimal,
    number,
    one_of,
    read_sheet,
    text,
    whole,
)
from runners.contract.vocabulary import KernelStrategy

#: Bytes of one unit of memory. Vendors' GB are 10**9; Google's table and deviceQuery count in powers of two.
MEMORY_UNITS = {"GB": 10**9, "GiB": 2**30, "MiB": 2**20}

#: Column of the file -> (field of Chip, factor, column of its source); memory's factor comes from ``memory_unit``.
CHIP_FACTS = {
    "memory": ("memory_bytes", 1, "memory_source"),
    "bandwidth_gb_s": ("bandwidth", 10**9, "bandwidth_source"),
    "bf16_tflops": ("bf16_flops", 10**12, "bf16_source"),
    "fp8_tflops": ("fp8_flops", 10**12, "fp8_source"),
    "tdp_w": ("tdp_watts", 1, "tdp_source"),
    "all_in_w": ("all_in_watts", 1, "all_in_source"),
}

SHEETS: dict[str, tuple[dict[str, Cell], frozenset[str]]] = {
    "chips": (
        {
            "name": text, "vendor": text, "unit": text, "memory_unit": one_of(*MEMORY_UNITS), "confidence": text,
            "notes": text, **dict.fromkeys(CHIP_FACTS, number),
            **{source: text for _, _, source in CHIP_FACTS.values()},
        },
        frozenset({"name", "unit"}),
    ),
    "aliases": ({"kind": one_of("chip", "model"), "alias": text, "name": text}, frozenset({"kind", "alias", "name"})),
    "models": (
        {"name": text, "developer": text, "parameters_total": whole, "parameters_active": whole, "source": text},
        frozenset({"name"}),
    ),
    "prices": (
        {
            "chip": text, "tier": text, "currency": currency, "amount_per_chip_hour": decimal, "valid_from": day,
            "source": text, "note": text,
        },
        frozenset({"chip", "tier", "currency", "amount_per_chip_hour", "valid_from", "source"}),
    ),
    "exchange_rates": (
        {"date": day, "base": currency, "quote": currency, "rate": decimal, "source": text},
        frozenset({"date", "base", "quote", "rate", "source"}),
    ),
    "claims": (
        {
            "key": text, "system": text, "chip": text, "chips": whole, "model": text, "engine": text,
            "kernel": one_of(*(word.value for word in KernelStrategy)), "speculative": text, "concurrency": whole,
            "output_tokens_per_s": number, "tpot_s": number, "published": text, "source": text, "note": text,
        },
        frozenset({"key", "system", "kernel", "published", "source"}),
    ),
}  # fmt: skip


def read(sheet: str, content: str | None = None, *, name: str = "") -> list[Row]:
    """The rows of one of SHEETS, from ``content`` or else from the file in this folder; raises SheetError."""
    if content is None:
        name = f"{sheet}.csv"
        content = files(__package__).joinpath(name).read_text(encoding="utf-8")
    columns, required = SHEETS[sheet]
    rows = read_sheet(content, columns, name=name or f"{sheet}.csv", required=required)
    if sheet == "chips":
        _check_sources(rows, name)
    return rows


def _check_sources(rows: list[Row], name: str) -> None:
    errors = []
    for row in rows:
        place = f"{name or 'chips.csv'} line {row['line']}"
        for fact, (_, _, source) in CHIP_FACTS.items():
            if row[fact] is not None and row[source] is None:
                errors.append(f"{place}, column {source}: must not be empty where {fact} is given")
        if row["memory"] is not None and row["memory_unit"] is None:
            errors.append(f"{place}, column memory_unit: must not be empty where memory is given")
    if errors:
        raise SheetError(errors)
