"""The one retry table: what is tried again, how long to wait before it, and when to give up.

Every request of the API may be repeated: a report is known by its id and a raw file by its bytes, so the site answers a
repetition with the receipt that it already wrote.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Answers that say "later". Anything else is the site's last word. Network errors are retried as well.
RETRY_STATUSES = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Patience:
    """How long a request may go on being tried. All fields are seconds, ``factor`` aside.

    ``first`` is the wait after the first failure, each following one ``factor`` times as long but never above
    ``longest``; ``total`` bounds the time from the first try to the start of the last.
    """

    first: float = 0.5
    factor: float = 2.0
    longest: float = 15.0
    total: float = 60.0

    def pause(
        self,
        *,
        tries: int,
        spent: float,
        retry_after: float | None = None,
        draw: Callable[[], float] = random.random,
    ) -> float | None:
        """Seconds to wait before the next try, or None to give up.

        ``tries`` is how many were made (at least 1), ``spent`` the seconds since the first began, ``retry_after`` what
        the site asked for, ``draw`` gives a number from 0 to 1. A Retry-After is never undercut: if it does not fit
        into what is left of ``total``, giving up now is better than knocking early.
        """
        # The exponent is capped so that an endless loop of quick failures cannot overflow a float.
        step = min(self.longest, self.first * self.factor ** min(tries - 1, 60))
        # Half fixed and half drawn: many runners that lost the same site do not come back in the same instant.
        wait = step * (0.5 + 0.5 * draw()) if retry_after is None else retry_after + self.first * draw()
        return wait if spent + wait <= self.total else None


#: Somebody sits in front of the screen and waits for a yes or no.
INTERACTIVE = Patience(total=4.0)


def retry_after_seconds(header: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds asked for by a ``Retry-After`` header, as a number or a date; None if absent or unreadable."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        # A misconfigured proxy can send any number of digits; a year is as good as "not today".
        return float(min(int(text[:12]), 366 * 86_400))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
