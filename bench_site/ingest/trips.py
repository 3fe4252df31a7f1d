"""Fewer round trips to the database, and fewer plans: they are most of what a single report costs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection


@contextmanager
def few_trips(wanted: bool) -> Iterator[None]:
    """Send statements without waiting for the ones before, up to the next that is asked for its rows.

    This is PostgreSQL's pipeline mode: an error comes with the next rows or at the end, as Django's own exception. COPY
    is not possible inside, so it is for uploads of a few rows only (``wanted``). Inside a transaction.
    """
    if not wanted:
        yield
        return
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        # Left alone, the server plans a query with array parameters anew each time, which costs more than to run it.
        connection.cursor().execute("SET LOCAL plan_cache_mode = force_generic_plan")
        yield


def pipelined() -> bool:
    """Whether ``few_trips`` is on."""
    return connection.connection is not None and connection.connection.pgconn.pipeline_status != 0


def rows_of(query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a query on the path of every upload; while ``few_trips`` is on, prepared once a connection."""
    if not pipelined():
        with connection.cursor() as cursor:
            cursor.execute(query, parameters)
            return list(cursor.fetchall())
    raw = connection.connection
    if raw.prepare_threshold is None:
        raw.prepare_threshold = 5  # of this connection; Django's own cursors do not prepare
    with connection.wrap_database_errors, psycopg.Cursor(raw) as cursor:
        cursor.execute(query, parameters, prepare=True)
        return cursor.fetchall()
