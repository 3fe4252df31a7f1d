"""Default noise floors: how far two runs of the same thing differ anyway, as a fraction.

Read from 518 pairs of identical public runs (median / 90th percentile of the relative difference): throughput
0.44 % / 3.5 %, median TTFT 2.2 % / 20.7 %, p99 TTFT 3.1 % / 30.8 %. A default floor is the 90th percentile: nine of ten
identical pairs stay below it. Floors learnt from replicates of the same machine replace them.
"""

PAIRS = "90th percentile of 518 pairs of identical public runs"
LIKE_THROUGHPUT = "as throughput: the same tokens and the same time, divided the other way round"
ASSUMED = "assumed, until learnt from replicates"
COUNTED = "counted, not timed: replicates agree"

THROUGHPUT = (0.035, PAIRS)
TTFT_MEDIAN = (0.207, PAIRS)
TTFT_TAIL = (0.308, PAIRS)
PER_TOKEN = (0.035, LIKE_THROUGHPUT)
PER_TOKEN_TAIL = (0.07, ASSUMED)
POWER = (0.05, ASSUMED)
COMPILE = (0.1, ASSUMED)
COUNT = (0.0, COUNTED)
SHARE = (0.05, ASSUMED)
