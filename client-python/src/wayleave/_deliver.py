"""The plan of a download: from the first byte or from where a break left it, until it is whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from wayleave._errors import ConnectionError, TimeoutError, WayleaveError
from wayleave._retry import Policy, failure_of, wait_or_raise
from wayleave._sink import Representation, Sink
from wayleave._steps import Answer, Plan, Request, open_stream, read_chunk

Progress = Callable[[int, "int | None"], None]
"""Called with the bytes received so far, and with how many there are in all where that is known."""

RANGE_NOT_SATISFIABLE = 416


def deliver(request: Request, sink: Sink, policy: Policy, progress: Progress) -> Plan[None]:
    """Fills the sink with the whole representation."""
    attempt = 0
    while True:
        before = sink.size
        try:
            failure = yield from _attempt(request, sink, progress)
        except (ConnectionError, TimeoutError) as error:
            failure = error
        if failure is None:
            return
        # Bytes that came are progress: patience is for failures in a row.
        if sink.size > before:
            attempt = 0
        yield from wait_or_raise(policy, attempt, failure)
        attempt += 1


def _attempt(request: Request, sink: Sink, progress: Progress) -> Plan[WayleaveError | None]:
    answer = yield from open_stream(_resuming(request, sink))
    if not _continues(answer, sink):
        if answer.status in (206, RANGE_NOT_SATISFIABLE):
            # The part is not of this file, or longer than it: begin anew.
            answer = yield from open_stream(request)
        failure = failure_of(answer)
        if failure is not None:
            return failure
        sink.begin(_representation(request, answer))
    length = sink.representation.length if sink.representation else None
    progress(sink.size, length)
    while chunk := (yield from read_chunk()):
        sink.write(chunk)
        progress(sink.size, length)
    if length is not None and sink.size < length:
        return ConnectionError(f"The connection ended after {sink.size} of {length} bytes.")
    return None


def _resuming(request: Request, sink: Sink) -> Request:
    held = sink.representation
    if held is None or held.etag is None or held.url != request.path or sink.size == 0:
        return request
    return replace(
        request,
        headers={
            **request.headers,
            # Exactly the bytes that the part is of: those packed otherwise are others.
            "Accept-Encoding": held.encoding,
            "Range": f"bytes={sink.size}-",
            "If-Range": held.etag,
        },
    )


def _continues(answer: Answer, sink: Sink) -> bool:
    if answer.status != 206 or sink.representation is None:
        return False
    found = re.match(r"bytes (\d+)-\d+/(\d+)$", answer.headers.get("content-range", ""))
    return (
        found is not None
        and int(found[1]) == sink.size
        and sink.representation.length in (None, int(found[2]))
        and answer.headers.get("etag") == sink.representation.etag
        and answer.headers.get("content-encoding", "identity") == sink.representation.encoding
    )


def _representation(request: Request, answer: Answer) -> Representation:
    headers = answer.headers
    etag = headers.get("etag")
    length = headers.get("content-length")
    digest = re.search(r"sha-256=:([A-Za-z0-9+/=]+):", headers.get("repr-digest", ""))
    return Representation(
        url=request.path,
        # A weak tag does not promise equal bytes.
        etag=etag if etag and not etag.startswith("W/") else None,
        encoding=headers.get("content-encoding", "identity"),
        length=int(length) if length and length.isdigit() else None,
        sha256=digest[1] if digest else None,
    )
