"""Which columns of a group's statistics a comparison reads: the figures that can be ranked, drawn and listed."""

#: Metrics with a median in a column of ``GroupStatistic``, in the order of the table.
METRICS = (
    "interactivity",
    "output_tokens_per_s_per_chip",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "ttft_p50",
    "ttft_p99",
    "tpot_p50",
    "tpot_mean",
    "e2el_p50",
)
#: Of these, the ones without ``_low`` and ``_high`` beside them.
WITHOUT_INTERVAL = frozenset({"ttft_p99", "tpot_mean"})

#: What ``sort`` takes besides a metric: money per million output tokens, and per million tokens of both kinds.
COST = "cost"
COST_TOTAL = "cost_total"
