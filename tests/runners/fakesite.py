"""A site that can misbehave: the API's shapes over a real socket, with faults laid in its way one request at a time.

It knows a report by its id and a file by its bytes, as the real site does, and counts how often each was really stored.
"""

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, uuid5

import zstandard

from runners.contract.problems import problem

TOKEN = "fb_test_token"
#: Bytes; a larger report is taken as a file and parsed later.
PARSE_IN_REQUEST = 8 * 1024 * 1024
Fault = Callable[["Handler"], bool]
"""Answers (or breaks) a request in the site's place; True if it did."""


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeSite:
    """What is stored, what was asked, and the faults still to come."""

    reports: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    #: Ids of reports that are refused whatever happens.
    refuse: set[str] = field(default_factory=set)
    #: How often an upload answers "received" before it is parsed.
    parsing: int = 0
    #: Names of files that are of no known tool.
    unknown: set[str] = field(default_factory=set)
    compare: bytes = b""
    delay: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock)
    server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self.server
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def start(self, port: int = 0) -> "FakeSite":
        handler = type("Bound", (Handler,), {"site": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def stop(self) -> None:
        if self.server:
            self.server.shutdown()
            self.server.server_close()

    def paths(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.requests]

    # ------------------------------------------------------------ the API

    def store_report(self, body: bytes, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        try:
            report = json.loads(body)
            run = report["id"]
        except (ValueError, KeyError, TypeError):
            return _problem("invalid-report", "no id")
        if run in self.refuse:
            return _problem("invalid-report", "points[0].duration: Input should be a finite number")
        receipt = {
            "id": run,
            "outcome": "stored",
            "url": f"/runs/{run}/",
            "revision": 1,
            "points": 1,
            "plausibility": "accept",
        }
        if query.get("dry_run") == ["true"]:
            return 200, {**receipt, "outcome": "checked"}
        with self.lock:
            known = self.reports.get(run)
            if known is not None and known != body:
                if query.get("amend") != ["true"]:
                    return _problem("conflict", "notes differs")
                self.reports[run] = body
                return 200, {**receipt, "outcome": "amended", "revision": 2}
            if known == body:
                return 200, {**receipt, "outcome": "unchanged"}
            self.reports[run] = body
            self.stored[run] = self.stored.get(run, 0) + 1
        return 201, receipt

    def store_file(self, body: bytes, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        digest = sha256(body).hexdigest()
        name = query.get("filename", [""])[0]
        if name in self.unknown:
            tools = ["Tool A", "Tool B"]
            return _problem("unknown-format", f"{name} is unknown. Supported: Tool A; Tool B.", supported=tools)
        if query.get("dry_run") == ["true"]:
            return 200, self.answer(digest, len(body), name, "checked")
        with self.lock:
            fresh = digest not in self.files
            if fresh:
                self.files[digest] = body
                self.stored[digest] = self.stored.get(digest, 0) + 1
        if self.parsing:
            return 202, self.answer(digest, len(body), name, "received")
        return (201 if fresh else 200), self.answer(
            digest, len(body), name, "parsed", "stored" if fresh else "unchanged"
        )

    def answer(self, digest: str, size: int, name: str, state: str, outcome: str = "stored") -> dict[str, Any]:
        upload = str(uuid5(NAMESPACE_URL, digest))
        run = {
            "id": upload,
            "outcome": "checked" if state == "checked" else outcome,
            "url": f"/runs/{upload}/",
            "revision": 1,
            "points": 2,
            "plausibility": "accept",
        }
        missing = {"path": "system.pools[0].chip", "question": "Which chip?", "option": "--chip", "required": False}
        runs = [] if state == "received" else [{"record": 0, "receipt": run, "missing": [missing]}]
        return {
            "id": upload,
            "state": state,
            "url": f"/api/v1/uploads/{upload}",
            "filename": name,
            "sha256": digest,
            "bytes": size,
            "tool": "example-bench",
            "runs": runs,
        }


def _problem(code: str, detail: str, **extra: Any) -> tuple[int, dict[str, Any]]:
    found = problem(code, detail, **extra)
    return found.status, found.model_dump(mode="json")


class Handler(BaseHTTPRequestHandler):
    site: FakeSite
    protocol_version = "HTTP/1.1"
    body: bytes = b""

    def log_message(self, *args: object) -> None:
        pass

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        self.serve()

    def do_POST(self) -> None:
        self.serve()

    def serve(self) -> None:
        with self.site.lock:
            fault = self.site.faults.pop(0) if self.site.faults else None
        # A fault sees the request before its body is read, so that it can break off in the middle of it.
        if fault and fault(self):
            self.close_connection = True
            return
        self.read_body()
        self.answer()

    def read_body(self) -> None:
        assert "chunked" not in self.headers.get("Transfer-Encoding", ""), "the client must never send chunked bodies"
        assert self.command == "GET" or self.headers["Content-Length"] is not None
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        encoding = self.headers.get("Content-Encoding")
        self.body = {"gzip": gzip.decompress, "zstd": zstandard.decompress, None: bytes}[encoding](data)

    def answer(self) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True)
        request = Request(self.command, parts.path, query, dict(self.headers), self.body)
        with self.site.lock:
            self.site.requests.append(request)
        if self.site.delay:
            threading.Event().wait(self.site.delay)
        if parts.path == "/compare/":
            return self.send(200, b"<html>", "text/html")
        if parts.path == "/compare.csv":
            return self.send(200, self.site.compare, "text/csv; charset=utf-8")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.send_json(*_problem("not-signed-in", "this token is not known"))
        self.send_json(*self.route(parts.path, query))

    def route(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        if path == "/api/v1/whoami":
            return 200, {"user": "mei", "scopes": ["push"], "machine": "node-1"}
        if path == "/api/v1/runs" and len(self.body) > PARSE_IN_REQUEST:
            return self.site.store_file(self.body, query)
        if path == "/api/v1/runs":
            return self.site.store_report(self.body, query)
        if path == "/api/v1/runs:batch":
            return 200, {"items": [self.item(index, part) for index, part in enumerate(_parts(self.body))]}
        if path == "/api/v1/uploads":
            return self.site.store_file(self.body, query)
        if path.startswith("/api/v1/uploads/"):
            return self.poll(path.rsplit("/", 1)[1])
        return _problem("not-found", path)

    def item(self, index: int, part: bytes) -> dict[str, Any]:
        status, answer = self.site.store_report(part, {})
        return {"index": index, "status": status, "receipt" if status < 300 else "problem": answer}

    def poll(self, upload: str) -> tuple[int, dict[str, Any]]:
        with self.site.lock:
            for digest, body in self.site.files.items():
                if str(uuid5(NAMESPACE_URL, digest)) == upload:
                    self.site.parsing -= 1
                    state = "received" if self.site.parsing > 0 else "parsed"
                    return 200, self.site.answer(digest, len(body), "raw.json", state)
        return _problem("not-found", upload)

    def send_json(self, status: int, answer: dict[str, Any]) -> None:
        media = "application/json" if status < 400 else "application/problem+json"
        self.send(status, json.dumps(answer).encode(), media)

    def send(self, status: int, body: bytes, media: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


def _parts(body: bytes) -> list[bytes]:
    """The reports of a batch, re-serialised as the tests write them."""
    return [json.dumps(report).encode() for report in json.loads(body)["reports"]]


# ------------------------------------------------------------ faults


def says(status: int, body: bytes = b"", media: str = "text/plain", **headers: str) -> Fault:
    """Read the request, answer this."""

    def fault(handler: Handler) -> bool:
        handler.read_body()
        handler.send(status, body, media, Connection="close", **headers)
        return True

    return fault


def problem_of(code: str, **headers: str) -> Fault:
    status, answer = _problem(code, "as the test wants it")
    return says(status, json.dumps(answer).encode(), "application/problem+json", **headers)


def reset(handler: Handler) -> bool:
    """Break the connection in the middle of the request's body, as a killed server does."""
    handler.rfile.read(10)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    return True


def reset_after_storing(handler: Handler) -> bool:
    """Store the request, then die before the answer is out: the client cannot know."""
    handler.read_body()
    real = handler.wfile
    handler.wfile = type("Nowhere", (), {"write": lambda *_: None, "flush": lambda *_: None})()  # type: ignore[assignment]
    handler.answer()
    handler.wfile = real
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    return True


def half_an_answer(handler: Handler) -> bool:
    """Promise more than is sent."""
    handler.read_body()
    handler.send_response(201)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"id": ')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    return True


def fine(handler: Handler) -> bool:
    """No fault: lets this request through."""
    return False
