"""How many chips an InferenceX record was measured on, and by how many each of its per-chip rates was divided."""

from dataclasses import dataclass, field

from bench_site.formats.build import share
from bench_site.formats.fields import Fields
from runners.contract.report import Parallelism, Pool, System
from runners.contract.types import MAX_COUNT
from runners.contract.vocabulary import PoolRole


@dataclass
class Chips:
    """The pools, and the divisors of the total, output and input rate (None: unknown)."""

    pools: list[Pool]
    total: int | None
    output: int | None
    input: int | None
    doubts: list[str] = field(default_factory=list)

    @property
    def apart(self) -> bool:
        """Whether prefill and decode ran on different chips."""
        return len(self.pools) > 1

    def system(self) -> System:
        return System(pools=self.pools)


def chips(fields: Fields, figures: Fields) -> Chips:
    """The chips of one record.

    Four cases: one node (chips = tp x pp; expert and attention parallelism live inside, though some API rows multiply
    them in); several nodes not apart (the prefill worker is all there is); prefill and decode apart with a count each;
    and API rows that are apart but carry the whole pool in both counts.
    """
    prefill, decode = fields.count("num_prefill_gpu"), fields.count("num_decode_gpu")
    if fields.flag("disagg") and prefill and decode:
        tp = fields.size("tp") or fields.size("prefill_tp")
        whole = prefill == decode == tp and not fields.flag("is_multinode") and not fields.count("prefill_num_workers")
        return _unsplit(fields, figures, prefill) if whole else _apart(fields, prefill, decode)
    if fields.flag("is_multinode") and prefill:
        # Decode workers 0 means that the prefill workers do both.
        together = prefill if not decode or decode == prefill else prefill + decode
        return _one(fields, _bounded(together))
    tp = fields.size("tp") or fields.size("prefill_tp")
    ranks = (fields.size("pp") or fields.size("prefill_pp") or 1) * (fields.size("pcp_size") or 1)
    used = _one(fields, _bounded(tp * ranks) if tp else None)
    ep = fields.size("ep") or fields.size("prefill_ep") or 1
    if prefill and tp and prefill != tp * ranks:
        if prefill == tp * ep:
            fields.notes.say(f"num_prefill_gpu {prefill} is tp x ep; the chips are tp = {tp}")
        else:
            used.doubts.append(f"The record says {prefill} chips, but its tensor parallelism is {tp}: {tp} is taken.")
    return used


def _bounded(number: int) -> int | None:
    return number if number <= MAX_COUNT else None


def _one(fields: Fields, number: int | None) -> Chips:
    """One pool that does all."""
    pool = Pool(
        chip=_chip(fields, "hw"),
        chips=number,
        parallelism=Parallelism(
            tp=fields.size("tp") or fields.size("prefill_tp"),
            pp=fields.size("pp"),
            ep=fields.size("ep") or fields.size("prefill_ep"),
            dp_attention=_either(fields.flag("dp_attention"), fields.flag("prefill_dp_attention")),
        ),
    )
    return Chips([pool], number, number, number)


def _apart(fields: Fields, prefill: int, decode: int) -> Chips:
    pools = [
        Pool(
            role=role,
            chip=_chip(fields, f"{role}_hw"),
            chips=number,
            workers=fields.size(f"{role}_num_workers"),
            parallelism=Parallelism(
                tp=fields.size(f"{role}_tp"),
                pp=fields.size(f"{role}_pp"),
                ep=fields.size(f"{role}_ep"),
                dp_attention=fields.flag(f"{role}_dp_attention"),
            ),
        )
        for role, number in ((PoolRole.PREFILL, prefill), (PoolRole.DECODE, decode))
    ]
    return Chips(pools, _bounded(prefill + decode), decode, prefill)


def _unsplit(fields: Fields, figures: Fields, number: int) -> Chips:
    """Both counts are the whole pool. The three rates give the split, if a whole number of chips solves them.

    total x n = input x p + output x (n - p), so p = n (total - output) / (input - output).
    """
    total, output, into = (figures.number(f"{name}tput_per_gpu") for name in ("", "output_", "input_"))
    solved = None
    if total and output and into and into != output:
        solved = share(number * (total - output), into - output)
    if solved is not None and 1 <= round(solved) < number and abs(solved - round(solved)) < 1e-3:
        first = round(solved)
        fields.notes.say(
            f"the record carries the whole pool of {number} chips in both roles; its three rates give "
            f"{first} prefill and {number - first} decode chips"
        )
        pools = [
            Pool(role=role, chip=_chip(fields, f"{role}_hw"), chips=part)
            for role, part in ((PoolRole.PREFILL, first), (PoolRole.DECODE, number - first))
        ]
        return Chips(pools, number, number - first, first)
    fields.notes.say(
        "prefill and decode ran apart, but the record does not say on how many chips each: only the total is known"
    )
    pool = Pool(chip=_chip(fields, "hw"), chips=number)
    return Chips([pool], number, None, None)


def _chip(fields: Fields, key: str) -> str | None:
    """The chip as written: mapping names is the site's work."""
    return fields.text(key) or fields.text("hw") or fields.text("hardware")


def _either(first: bool | None, second: bool | None) -> bool | None:
    return second if first is None else first
