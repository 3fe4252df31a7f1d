"""Problem codes: what can be wrong with what was sent, and the one table of what a client does about it.

Errors travel as RFC 9457 ``application/problem+json``: ``type`` (``/problems/<code>``), ``title``, ``status``,
``detail``, ``code``, and ``errors``, a list of ``{path, code, message, found, allowed}`` that names *every* bad field.
"""

from typing import Any

from pydantic import BaseModel

#: code -> (HTTP status, title, what the sender should do)
PROBLEMS: dict[str, tuple[int, str, str]] = {
    "empty": (400, "The body is empty", "Send a JSON document."),
    "bad-encoding": (400, "The body is not UTF-8", "Save the file as UTF-8 and send it again."),
    "bad-json": (400, "The body is not valid JSON", "Mend the document at the place named and send it again."),
    "duplicate-key": (400, "A JSON object names a key twice", "Keep one of the two."),
    "too-deep": (400, "The JSON is nested too deeply", "Reports need fewer than 100 levels."),
    "bad-compression": (
        400,
        "The body cannot be decompressed",
        "Compress it again with gzip or zstd, or send it plain.",
    ),
    "incomplete": (400, "The body ended early", "Send it again; if a proxy is in between, look at its limits."),
    "bad-query": (400, "A URL parameter is wrong", "Correct the parameter named."),
    "not-signed-in": (
        401,
        "No valid token was sent",
        "Run `fuseboard login` with a token made under /account/; a program sends it as a bearer token.",
    ),
    "forbidden": (403, "The token or account may not do this", "Use a token with the scope named, or ask an operator."),
    "not-found": (404, "Nothing is stored under this address", "Check the id; the list of runs is at /runs/."),
    "method-not-allowed": (405, "This address does not take this method", "See /api/v1/docs."),
    "not-acceptable": (406, "No such representation", "Ask for application/json."),
    "conflict": (409, "It is stored already, with another content", "Repeat it with --amend to write a revision."),
    "gone": (410, "The run was deleted", "The id stays taken; send the run again under a new id."),
    "length-required": (411, "The request has no Content-Length", "Send the body with its length, not chunked."),
    "too-large": (413, "The body is over the limit", "Send less at once; the limit is in the detail."),
    "unsupported-media": (415, "This content type or encoding is not taken", "Send JSON, plain or gzip or zstd."),
    "invalid-report": (
        422,
        "The report does not follow the contract",
        "Mend the fields listed; `fuseboard schema` prints it.",
    ),
    "unknown-format": (422, "The file is of no known tool", "The supported tools are listed in docs/formats.md."),
    "refused-file": (422, "The file holds no result that can be stored", "Mend or leave out the file named."),
    "missing-context": (422, "The file lacks facts that are needed", "Say them with the options named."),
    "too-many-requests": (429, "Too many requests", "Wait as long as Retry-After says."),
    "internal": (500, "The site made an error", "Send it again later; the operator finds it in the log."),
    "busy": (503, "The site is busy or its database is away", "The same request can be sent again."),
}


class FieldError(BaseModel):
    """One wrong field."""

    path: str
    code: str
    message: str
    found: str | None = None
    allowed: str | None = None


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    remedy: str
    errors: list[FieldError] = []
    extra: dict[str, Any] = {}


def problem(code: str, detail: str, errors: list[FieldError] | None = None, **extra: Any) -> Problem:
    """The problem document for ``code``; raises KeyError for a code that is not in the table."""
    status, title, remedy = PROBLEMS[code]
    return Problem(
        type=f"/problems/{code}",
        title=title,
        status=status,
        detail=detail,
        code=code,
        remedy=remedy,
        errors=errors or [],
        extra=extra,
    )
