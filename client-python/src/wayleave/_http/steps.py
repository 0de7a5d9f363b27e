"""The steps that a plan can request.

A plan is a generator: it yields steps, receives each step's result, and returns what the caller wants. It
does no I/O, so that Client and AsyncClient run the same plans and differ only in how they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from wayleave._credits import Credits

T = TypeVar("T")

UPLOAD_BLOCK = 1 << 18


@dataclass(frozen=True)
class Request:
    """A request; its path begins below the base URL."""

    path: str
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    content: bytes | None = None


@dataclass(frozen=True)
class Response:
    """A response: status, headers with lower-case names, and the body unless it is read in chunks."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Send:
    """Send the request and read the whole response."""

    request: Request


@dataclass(frozen=True)
class Open:
    """Send the request; read the body only if the response is an error."""

    request: Request


@dataclass(frozen=True)
class ReadChunk:
    """The next bytes of the opened response, still encoded; none at its end."""


@dataclass(frozen=True)
class Pause:
    """Wait."""

    seconds: float


@dataclass(frozen=True)
class Compute:
    """Work that keeps the processor busy: an event loop runs it in a thread."""

    work: Callable[[], Any]


@dataclass
class UploadBody:
    """A file as the body of a request."""

    path: Path
    size: int
    progress: Callable[[int, int | None], None]
    sent: int = 0

    def read(self, offset: int) -> bytes:
        """The bytes at an offset, and a report of progress."""
        with self.path.open("rb") as file:
            file.seek(offset)
            chunk = file.read(min(UPLOAD_BLOCK, self.size - offset))
        self.sent = offset + len(chunk)
        self.progress(self.sent, self.size)
        return chunk


@dataclass(frozen=True)
class Upload:
    """Send the request with a file as its body, and read the whole response."""

    request: Request
    body: UploadBody


@dataclass(frozen=True)
class Spent:
    """The credits that the call was charged so far."""


Step = Send | Open | ReadChunk | Pause | Compute | Upload | Spent
Plan = Generator[Step, Any, T]


def send(request: Request) -> Plan[Response]:
    response: Response = yield Send(request)
    return response


def open_stream(request: Request) -> Plan[Response]:
    response: Response = yield Open(request)
    return response


def read_chunk() -> Plan[bytes]:
    chunk: bytes = yield ReadChunk()
    return chunk


def pause(seconds: float) -> Plan[None]:
    yield Pause(seconds)


def compute(work: Callable[[], T]) -> Plan[T]:
    result: T = yield Compute(work)
    return result


def upload(request: Request, body: UploadBody) -> Plan[Response]:
    response: Response = yield Upload(request, body)
    return response


def spent() -> Plan[Credits]:
    credits: Credits = yield Spent()
    return credits
