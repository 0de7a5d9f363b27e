"""What a plan may ask of whoever runs it.

A plan is a generator: it yields steps, gets each step's result back, and returns what the caller wants. It
does no I/O, so that Client and AsyncClient run the very same plans and differ in nothing but how they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """A GET; its path begins below the base URL."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None


@dataclass(frozen=True)
class Answer:
    """A status and headers; the body too, unless it is to be read in chunks. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Send:
    """Send the request and read the answer whole."""

    request: Request


@dataclass(frozen=True)
class Open:
    """Send the request; read the body only if the answer is an error."""

    request: Request


@dataclass(frozen=True)
class ReadChunk:
    """Some more bytes of the opened answer, as they came; none at its end."""


@dataclass(frozen=True)
class Pause:
    """Wait."""

    seconds: float


@dataclass(frozen=True)
class Compute:
    """Work that takes the processor a while: an event loop does it in a thread."""

    work: Callable[[], Any]


Step = Send | Open | ReadChunk | Pause | Compute
Plan = Generator[Step, Any, T]


def send(request: Request) -> Plan[Answer]:
    answer: Answer = yield Send(request)
    return answer


def open_stream(request: Request) -> Plan[Answer]:
    answer: Answer = yield Open(request)
    return answer


def read_chunk() -> Plan[bytes]:
    chunk: bytes = yield ReadChunk()
    return chunk


def pause(seconds: float) -> Plan[None]:
    yield Pause(seconds)


def compute(work: Callable[[], T]) -> Plan[T]:
    result: T = yield Compute(work)
    return result
