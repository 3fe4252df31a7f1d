"""Slowing down whoever guesses passwords: per account and per address, kept in SignInAttempt.

The first few failures cost nothing; each further one doubles the wait, up to a quarter of an hour. While one waits, no
password is looked at and nothing is counted, so that an attacker cannot keep an account closed for longer than that by
knocking on. Every name is treated the same, whether it has an account or not.
"""

import math
from collections.abc import Iterable
from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone

from bench_site.runs.models import SignInAttempt

FREE_FAILURES = 5
#: An address may be that of a whole office.
FREE_FAILURES_OF_ADDRESS = 30
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=15)
REMEMBERED = timedelta(hours=24)


def keys_of(request: HttpRequest, username: str) -> list[str]:
    """Under which failures of this sign-in are counted."""
    return [f"account:{username.strip().casefold()[:150]}", f"address:{request.META.get('REMOTE_ADDR', '')[:100]}"]


def seconds_to_wait(keys: Iterable[str]) -> int:
    """How long to wait before the next try; 0 means try now."""
    now = timezone.now()
    longest = 0.0
    for key in keys:
        free = FREE_FAILURES if key.startswith("account:") else FREE_FAILURES_OF_ADDRESS
        times = list(
            SignInAttempt.objects.filter(key=key, at__gt=now - REMEMBERED).order_by("-at").values_list("at", flat=True)
        )
        if len(times) >= free:
            doublings = min(len(times) - free, 20)
            wait = min(FIRST_WAIT * 2**doublings, LONGEST_WAIT)
            longest = max(longest, (times[0] + wait - now).total_seconds())
    return max(0, math.ceil(longest))


def note_failure(keys: Iterable[str]) -> None:
    """Count one failure, and forget those older than a day."""
    SignInAttempt.objects.bulk_create([SignInAttempt(key=key) for key in keys])
    SignInAttempt.objects.filter(at__lt=timezone.now() - REMEMBERED).delete()


def note_success(keys: Iterable[str]) -> None:
    """The account starts afresh; the address does not, or one known password would free it for guessing others."""
    SignInAttempt.objects.filter(key__in=[key for key in keys if key.startswith("account:")]).delete()
