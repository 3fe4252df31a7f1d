"""What the log leaves out. Imported while Django sets up logging, so it may import nothing that needs Django."""

import logging
import re


class NotReadyIsNoError(logging.Filter):
    """A probe asks every few seconds while the site starts; its 503 is the answer, not a fault worth a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return getattr(request, "path", None) != "/readyz"


class ExpiredFormIsNoFault(logging.Filter):
    """A form without a valid token is the visitor's; a refused origin mostly means a missing CSRF_TRUSTED_ORIGINS."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "Origin" in record.getMessage()


#: The part of an address that lets in whoever has it; see fleet/urls.py.
ONE_TIME = re.compile(r"(/account/(?:setup|welcome)/)[^/\s]+")


class OneTimeLinksAreSecrets(logging.Filter):
    """Django names the address of a request that failed; a link that still works must not be read in a log."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        hidden = ONE_TIME.sub(r"\1[removed]", said)
        if hidden != said:
            record.msg, record.args = hidden, None
        return True
