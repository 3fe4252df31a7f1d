"""Speaks to a Fuseboard site: one method a thing it can be asked, one kind of exception a kind of answer.

    from runners.client import Client

    with Client("https://bench.example", token) as client:
        receipt = client.push_report(report)
        answer = client.push_file(path.read_bytes(), Context(chip="h200", chips=8), filename=path.name)

Nothing is kept on disk here; ``runners.spool`` and ``runners.deliver`` do that for the command line.
"""

import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx2
from pydantic import BaseModel, RootModel, ValidationError

from runners.contract.context import Context
from runners.contract.problems import Problem, problem
from runners.contract.receipt import BatchAnswer, Receipt, UploadAnswer
from runners.contract.report import Report
from runners.failures import ClientError, NotSignedIn, Refused, StillParsing, Unsent
from runners.packing import pack
from runners.retry import RETRY_STATUSES, Patience, retry_after_seconds
from runners.version import version

#: Reports in one request of push_reports.
BATCH = 100
#: What is said beside a file travels in the address, and web servers take no longer ones.
LONGEST_QUERY = 8_000
#: Seconds. Reading is generous: a file of 8 MiB is parsed while the client waits.
TIMEOUT = httpx2.Timeout(120.0, connect=10.0)

Query = Iterable[tuple[str, str]]
Answer = TypeVar("Answer", bound=BaseModel)


#: What a site says is wrong with a token -> the words after "the token of FUSEBOARD_TOKEN".
_TOKEN_TROUBLE = {
    "unknown": "is not known to the site",
    "expired": "has expired",
    "revoked": "was revoked",
    "owner inactive": "belongs to somebody who may not sign in any more",
}


class Whoami(BaseModel):
    """Whom the site takes us for. ``scopes``: push, agent, read."""

    user: str | None = None
    scopes: list[str] = []
    machine: str | None = None


class ReportAnswer(RootModel[Receipt | UploadAnswer]):
    """Answer to one report: a receipt, or for a large one the same as for a file."""


def _too_long(query: Query, length: int) -> Problem:
    """The refusal of an address that no server takes; it names what makes it long."""
    sizes = sorted(((len(urlencode([pair])), pair[0]) for pair in query), reverse=True)
    longest = ", ".join(f"{name} ({size:,} bytes)" for size, name in sizes[:3])
    detail = (
        f"What is said beside the file makes an address of {length:,} bytes; at most {LONGEST_QUERY:,} can be sent."
    )
    return problem("bad-query", f"{detail} Shorten the longest: {longest}.")


class Client:
    """A connection to one site; ``token`` is sent to this site only. Close it, or use it in a ``with``.

    ``on_wait(reason, seconds)`` is called before each wait for another try. ``transport`` replaces the network (tests).
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        token_from: str | None = None,
        patience: Patience | None = None,
        on_wait: Callable[[str, float], None] | None = None,
        timeout: httpx2.Timeout = TIMEOUT,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self.patience = patience or Patience()
        self._token_from = token_from if token else None
        self._has_token = bool(token)
        self._on_wait = on_wait
        self._sleep = sleep
        headers = {"Accept": "application/json", "User-Agent": f"fuseboard/{version()}"}
        if token:
            if not token.isascii() or not token.isprintable():
                whose = f" of {token_from}" if token_from else ""
                raise NotSignedIn(
                    f"the token{whose} holds characters that no token has; make one at {self.url}/account/"
                )
            headers["Authorization"] = f"Bearer {token}"
        # Redirects are not followed: a token must not reach a place that was not named, and a POST would become a GET.
        self._http = httpx2.Client(headers=headers, timeout=timeout, transport=transport, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # ------------------------------------------------------------ what can be asked

    def whoami(self) -> Whoami:
        """Whom the site takes this token for; raises NotSignedIn if it does not know it."""
        return self._read(self._send("GET", "/api/v1/whoami"), Whoami)

    def push_report(
        self,
        report: Report | bytes,
        *,
        amend: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
        wait: float = 600.0,
    ) -> Receipt:
        """Store one report (a model, or JSON as it is); with ``amend`` a changed one becomes a new revision.

        A report of many samples is parsed in the background: asked for up to ``wait`` seconds, then StillParsing.
        """
        body = report if isinstance(report, bytes) else report.model_dump_json(exclude_none=True).encode()
        query = amending(amend, reason) + ([("dry_run", "true")] if dry_run else [])
        answer = self._read(self._post("/api/v1/runs", body, query), ReportAnswer).root
        return answer if isinstance(answer, Receipt) else self._receipt_of(answer, wait)

    def _receipt_of(self, answer: UploadAnswer, seconds: float) -> Receipt:
        """The receipt of a report that was taken as a file."""
        try:
            answer = self.wait(answer, seconds=seconds)
        except ClientError:  # that the site cannot be asked now does not take away that it has the report
            raise StillParsing(answer) from None
        if answer.state == "received":
            raise StillParsing(answer)
        for wrong in (answer.problem, *(run.problem for run in answer.runs)):
            if wrong:
                raise Refused(wrong)
        for run in answer.runs:
            if run.receipt:
                return run.receipt
        raise Unsent(f"{self.url} took the report and gave no receipt for it")

    def push_reports(self, reports: Iterable[Report | bytes]) -> BatchAnswer:
        """Store reports in requests of up to 100; each is stored or refused on its own, in the order given."""
        whole = BatchAnswer(items=[])
        for chunk in _chunks(
            [r if isinstance(r, bytes) else r.model_dump_json(exclude_none=True).encode() for r in reports]
        ):
            answer = self._read(
                self._post("/api/v1/runs:batch", b'{"reports": [%b]}' % b",".join(chunk), []), BatchAnswer
            )
            if [item.index for item in answer.items] != list(range(len(chunk))):
                raise Unsent(f"{self.url} answered {len(answer.items)} items to {len(chunk)} reports")
            for item in answer.items:
                whole.items.append(item.model_copy(update={"index": len(whole.items)}))
        return whole

    def push_file(
        self,
        data: bytes,
        context: Context | Query | None = None,
        *,
        filename: str,
        amend: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> UploadAnswer:
        """Send a tool's raw file and what it lacks. A large one answers ``received``: see ``wait``."""
        said = context.as_query() if isinstance(context, Context) else list(context or [])
        query = [*said, ("filename", filename), *amending(amend, reason)]
        if dry_run:
            query.append(("dry_run", "true"))
        if (length := len(urlencode(query))) > LONGEST_QUERY:
            raise Refused(_too_long(query, length))
        return self._read(self._post("/api/v1/uploads", data, query, "application/octet-stream"), UploadAnswer)

    def upload(self, upload_id: object) -> UploadAnswer:
        """What became of a raw file."""
        return self._read(self._send("GET", f"/api/v1/uploads/{upload_id}"), UploadAnswer)

    def wait(self, answer: UploadAnswer, *, seconds: float = 600.0) -> UploadAnswer:
        """Ask until a ``received`` file is parsed or refused; after ``seconds`` the answer is still ``received``."""
        began = time.monotonic()
        pause = 0.3
        while answer.state == "received" and time.monotonic() - began < seconds:
            if self._on_wait:
                self._on_wait("the site is parsing the file", pause)
            self._sleep(pause)
            pause = min(5.0, pause * 1.5)
            answer = self.upload(answer.id)
        return answer

    def compare_csv(self, query: Query) -> bytes:
        """The compare table, byte for byte as the site's download."""
        response = self._send("GET", "/compare.csv", query=list(query), headers={"Accept": "text/csv, */*;q=0.1"})
        if response.status_code == 200 and response.headers.get("content-type", "").startswith("text/csv"):
            return response.content
        raise self._refusal(response)

    def first_view(self) -> list[tuple[str, str]]:
        """The choices that the compare page makes for whoever makes none; nothing if the site has no such view."""
        response = self._send("GET", "/compare/", headers={"Accept": "text/html"})
        goal = urlsplit(response.headers.get("location", ""))
        # A sign-in page is somewhere else: the table's own answer then says what is missing.
        return parse_qsl(goal.query) if response.is_redirect and goal.path.endswith("/compare/") else []

    def link(self, path: str) -> str:
        """A receipt's address as something to open in a browser."""
        return urljoin(f"{self.url}/", path)

    # ------------------------------------------------------------ how it is asked

    def _post(self, path: str, body: bytes, query: Query, media: str = "application/json") -> httpx2.Response:
        packed = pack(body)
        headers = {"Content-Type": media}
        if packed.encoding:
            headers["Content-Encoding"] = packed.encoding
        return self._send("POST", path, query=list(query), body=packed.data, headers=headers)

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: list[tuple[str, str]] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """One request under the retry table; returns the site's last word or raises Unsent."""
        began = time.monotonic()
        tries = 0
        while True:
            tries += 1
            asked: float | None = None
            try:
                # Bytes, never an iterator: with an iterator the body would go out chunked, without a length.
                response = self._http.request(
                    method,
                    self.url + path,
                    params=urlencode(query) if query else None,
                    content=body,
                    headers=dict(headers or {}),
                )
            except httpx2.TransportError as error:
                reason = self._why(error)
                if _is_hopeless(error):
                    raise Unsent(reason) from error
            except httpx2.DecodingError as error:
                raise Unsent(f"{self.url} sent an answer that cannot be decompressed: {error}") from error
            except httpx2.InvalidURL as error:
                raise Unsent(f"{self.url} is not an address: {error}") from error
            else:
                if response.status_code not in RETRY_STATUSES:
                    return response
                asked = retry_after_seconds(response.headers.get("retry-after"))
                reason = self._said(response)
            pause = self.patience.pause(tries=tries, spent=time.monotonic() - began, retry_after=asked)
            if pause is None:
                times = "once" if tries == 1 else f"{tries} times"
                later = f"; it asked to wait {asked:.0f} s" if asked else ""
                raise Unsent(f"{reason} (tried {times}{later})")
            if self._on_wait:
                self._on_wait(reason, pause)
            self._sleep(pause)

    def _read(self, response: httpx2.Response, model: type[Answer]) -> Answer:
        if not 200 <= response.status_code < 300:
            raise self._refusal(response)
        try:
            return model.model_validate_json(response.content)
        except ValidationError:
            raise self._stranger(response) from None

    def _refusal(self, response: httpx2.Response) -> ClientError:
        """The exception for an answer that is no success."""
        found = _problem(response)
        if response.status_code == 401:
            return NotSignedIn(self._sign_in(found))
        if found and 400 <= response.status_code < 500:
            return Refused(found)
        if response.status_code in (414, 431):  # of the web server or a proxy: sending it again would change nothing
            return Refused(problem("bad-query", "The address, with all that was said in it, is too long for the site."))
        if response.status_code == 413:  # a proxy in front of the site has a limit of its own, and it is final too
            return Refused(problem("too-large", "A proxy in front of the site refused the body's size."))
        if response.is_redirect:
            return Unsent(
                f"{self.url} sends us to {response.headers.get('location', 'nowhere')}; "
                "if that is where the site lives now, run `fuseboard login` with that address"
            )
        return self._stranger(response)

    def _sign_in(self, found: Problem | None) -> str:
        """Which token is no good, and how to come by another."""
        login = f"run `fuseboard login {self.url}` with a token made at {self.url}/account/"
        if not self._has_token:
            return f"{self.url} asks for a token and none is known here; {login}"
        reason = str(found.extra.get("reason")) if found else ""
        whose = f" of {self._token_from}" if self._token_from else ""
        said = f"{self.url}: the token{whose} {_TOKEN_TROUBLE.get(reason, 'was not taken')}"
        if found and reason not in _TOKEN_TROUBLE:
            said += f" ({found.detail.rstrip('.')})"
        if reason == "owner inactive":
            return f"{said}; ask an operator"
        if self._token_from and not self._token_from.startswith("the login file"):
            # What stands there wins over a login, which would therefore change nothing.
            return f"{said}; put one made at {self.url}/account/ there, or leave it out and run `fuseboard login`"
        return f"{said}; {login}"

    def _stranger(self, response: httpx2.Response) -> Unsent:
        media = response.headers.get("content-type", "no content type").split(";")[0]
        return Unsent(
            f"{self.url} does not answer like a Fuseboard site ({response.status_code}, {media}); "
            "check the address, and for a proxy or a sign-in page in between"
        )

    def _said(self, response: httpx2.Response) -> str:
        found = _problem(response)
        if found:
            return f"{self.url} answered {response.status_code}: {found.detail or found.title}"
        return f"{self.url} answered {response.status_code} {response.reason_phrase}".rstrip()

    def _why(self, error: httpx2.TransportError) -> str:
        """A network error in words a person can act on."""
        host = httpx2.URL(self.url).host
        cause = _root(error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"{self.url}: the certificate cannot be trusted ({cause.verify_message}); for a private authority "
                "set SSL_CERT_FILE to its certificate"
            )
        if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
            return f"{self.url} does not speak TLS; try http:// instead of https://"
        if type(cause).__name__ == "gaierror":
            return f"the name {host} cannot be resolved ({getattr(cause, 'strerror', None) or cause})"
        if isinstance(cause, ConnectionRefusedError):
            return f"{self.url} refuses connections; is the site running?"
        if isinstance(error, httpx2.ConnectTimeout):
            return f"{self.url} cannot be reached (no answer within 10 s)"
        if isinstance(error, httpx2.TimeoutException):
            return f"{self.url} took too long to answer"
        if isinstance(error, httpx2.ProxyError):
            return f"the proxy on the way to {self.url} failed: {error}"
        return f"the connection to {self.url} broke: {error or type(error).__name__}"


def amending(amend: bool, reason: str | None) -> list[tuple[str, str]]:
    """URL parameters that turn a changed report or file into a revision."""
    if not amend:
        return []
    return [("amend", "true"), *([("reason", reason)] if reason else [])]


def _chunks(bodies: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(bodies), BATCH):
        yield bodies[start : start + BATCH]


def _root(error: BaseException) -> BaseException:
    while following := error.__cause__ or error.__context__:
        error = following
    return error


def _is_hopeless(error: httpx2.TransportError) -> bool:
    """True for what no second try can mend: a wrong certificate, a wrong scheme, a request that cannot be written."""
    cause = _root(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return True
    if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
        return True
    return isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError)


def _problem(response: httpx2.Response) -> Problem | None:
    """The problem document in an answer: its media type tells it from a proxy's own JSON."""
    if not response.headers.get("content-type", "").startswith("application/problem+json"):
        return None
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        return None
