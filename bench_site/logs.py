"""What the log leaves out. Imported while Django sets up logging, so it may import nothing that needs Django."""

import logging


class NotReadyIsNoError(logging.Filter):
    """A probe asks every few seconds while the site starts; its 503 is the answer, not a fault worth a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return getattr(request, "path", None) != "/readyz"
