"""A transaction that is tried again when two of them got into each other's way."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction

from bench_site.ingest.refusals import Refusal
from runners.contract.problems import problem

log = logging.getLogger(__name__)

ATTEMPTS = 6
RETRY_AFTER_SECONDS = 5
#: SQLSTATEs after which the same transaction may succeed: serialization, deadlock, a row that another transaction
#: wrote (unique) or took away (foreign key) between our look and our write.
PASSING = frozenset({"40001", "40P01", "23505", "23503"})

Result = TypeVar("Result")


def durably(work: Callable[[], Result]) -> Result:
    """What ``work`` answers once its transaction is committed; raises Refusal ``busy`` if that cannot be had."""
    nested = connection.in_atomic_block  # whoever began the outer transaction must begin it anew
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
                return work()
        except (IntegrityError, OperationalError, InterfaceError) as why:
            if nested or (isinstance(why, IntegrityError) and _state(why) not in PASSING):
                raise
            if attempt == ATTEMPTS or _state(why) not in PASSING:
                raise busy(why) from why
            time.sleep(random.uniform(0, 0.02 * attempt))
    raise AssertionError("unreachable")


def busy(why: Exception) -> Refusal:
    """The 503 that clients may retry."""
    log.warning("503: %s", str(why).splitlines()[0] if str(why) else type(why).__name__)
    detail = f"The database is away or too busy. Nothing was stored; send the same again in {RETRY_AFTER_SECONDS} s."
    return Refusal(problem("busy", detail), retry_after=RETRY_AFTER_SECONDS)


def _state(why: Exception) -> str:
    return getattr(why.__cause__, "sqlstate", None) or ""
