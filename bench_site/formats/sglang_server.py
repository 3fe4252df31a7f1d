"""What SGLang's ``server_info`` tells about the system under test (the server's own flags, 20 to 50 KB)."""

from typing import Any

from bench_site.formats.build import model, precision_name
from bench_site.formats.fields import Fields
from runners.contract.report import Engine, Parallelism, Pool, Precision, Speculative, Strategy, System
from runners.contract.vocabulary import AcceptanceSource, PoolRole

#: Back ends that speak SGLang's own /generate, which no other server has.
_NATIVE = ("sglang", "sglang-native")


def server_parts(fields: Fields) -> dict[str, Any]:
    """System, model, engine, strategy and prefix cache of a record; all unknown without ``server_info``."""
    info = fields.inner("server_info")
    groups = {role: _servers(info, role) for role in (PoolRole.PREFILL, PoolRole.DECODE)}
    if any(groups.values()):
        pools = [_pool(role, servers) for role, servers in groups.items() if servers]
        main = (groups[PoolRole.DECODE] or groups[PoolRole.PREFILL])[0]
    else:
        pools = [_pool(PoolRole.ALL, [info])] if "tp_size" in info else []
        main = info
    known = bool(main.values)
    engine = "sglang" if known or fields.raw("backend") in _NATIVE else None
    return {
        "system": System(pools=pools),
        "model": model(
            main.text("model_path", 1000),
            fields.notes,
            precision=Precision(
                weights=precision_name(main.text("quantization")) or precision_name(main.text("dtype")),
                kv_cache=precision_name(main.text("kv_cache_dtype")),
            ),
        ),
        "engine": Engine(name=engine, version=main.text("version") or info.text("version")),
        "strategy": Strategy(speculative=_speculative(fields, main)),
        "prefix_cache": _prefix_cache(main),
    }


def _prefix_cache(server: Fields) -> bool | None:
    disabled = server.flag("disable_radix_cache")
    return None if disabled is None else not disabled


def _servers(info: Fields, role: PoolRole) -> list[Fields]:
    """With prefill and decode apart, the flags stand one level lower: a list of servers a role."""
    value = info.raw(role)
    listed = value if isinstance(value, list) else [value]
    return [Fields(entry, info.notes, f"{info.prefix}{role}.") for entry in listed if isinstance(entry, dict) and entry]


def _pool(role: PoolRole, servers: list[Fields]) -> Pool:
    """chips = tp x pp x dp of every server; with dp-attention the dp ranks live inside tp."""
    first = servers[0]
    sizes = {name: first.size(f"{name}_size") for name in ("tp", "pp", "dp", "ep")}
    inside = first.flag("enable_dp_attention")
    each = sizes["tp"]
    if each:
        each *= (sizes["pp"] or 1) * (1 if inside else sizes["dp"] or 1)
    nodes = first.size("nnodes")
    return Pool(
        role=role,
        chips=each * len(servers) if each and each * len(servers) < 2**63 else None,
        nodes=nodes * len(servers) if nodes and nodes < 2**31 else None,
        workers=len(servers) if role is not PoolRole.ALL else None,
        parallelism=Parallelism(**sizes, dp_attention=inside),
    )


def _speculative(fields: Fields, server: Fields) -> Speculative | None:
    length = fields.number("accept_length")
    length = length if length is not None and 1 <= length <= 10_000 else None
    algorithm = server.text("speculative_algorithm")
    if algorithm is None and length is None:
        return Speculative(method="none") if "speculative_algorithm" in server else None
    return Speculative(
        method=(algorithm or "unknown").lower(),
        draft=server.text("speculative_draft_model_path"),
        draft_tokens=server.size("speculative_num_draft_tokens"),
        acceptance_length=length,
        acceptance_source=AcceptanceSource.MEASURED if length else AcceptanceSource.UNKNOWN,
    )
