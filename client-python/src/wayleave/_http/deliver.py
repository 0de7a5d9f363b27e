"""The plan of a download, which resumes after an interruption."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from wayleave._errors import ConnectionError, TimeoutError, WayleaveError
from wayleave._http.retry import Policy, failure_of, wait_or_raise
from wayleave._http.sink import Representation, Sink
from wayleave._http.steps import Plan, Request, Response, open_stream, read_chunk

Progress = Callable[[int, "int | None"], None]
"""Called with the bytes transferred so far, and with the total if it is known."""

NOT_MODIFIED = 304
RANGE_NOT_SATISFIABLE = 416


def deliver(request: Request, sink: Sink, policy: Policy, progress: Progress) -> Plan[bool]:
    """Fills the sink with the whole representation.

    Returns False, with the sink untouched, if the request has `If-None-Match` and the file is still that one.
    """
    attempt = 0
    while True:
        before = sink.size
        try:
            outcome = yield from _attempt(request, sink, progress)
        except (ConnectionError, TimeoutError) as error:
            outcome = error
        if isinstance(outcome, bool):
            return outcome
        failure = outcome
        # Received bytes are progress: only failures in a row count.
        if sink.size > before:
            attempt = 0
        yield from wait_or_raise(policy, attempt, failure)
        attempt += 1


def _attempt(request: Request, sink: Sink, progress: Progress) -> Plan[WayleaveError | bool]:
    response = yield from open_stream(_resuming(request, sink))
    if response.status == NOT_MODIFIED and "If-None-Match" in request.headers:
        return False
    if not _continues(response, sink):
        if response.status in (206, RANGE_NOT_SATISFIABLE):
            # The part belongs to another file, or is longer than this one: start again.
            response = yield from open_stream(request)
        failure = failure_of(response)
        if failure is not None:
            return failure
        sink.begin(_representation(request, response))
    length = sink.representation.length if sink.representation else None
    progress(sink.size, length)
    while chunk := (yield from read_chunk()):
        sink.write(chunk)
        progress(sink.size, length)
    if length is not None and sink.size < length:
        return ConnectionError(f"The connection ended after {sink.size} of {length} bytes.")
    return True


def _resuming(request: Request, sink: Sink) -> Request:
    partial = sink.representation
    if partial is None or partial.etag is None or partial.url != request.path or sink.size == 0:
        return request
    return replace(
        request,
        headers={
            **{name: value for name, value in request.headers.items() if name != "If-None-Match"},
            # The same encoding as the part: the bytes of another one differ.
            "Accept-Encoding": partial.encoding,
            "Range": f"bytes={sink.size}-",
            "If-Range": partial.etag,
        },
    )


def _continues(response: Response, sink: Sink) -> bool:
    if response.status != 206 or sink.representation is None:
        return False
    content_range = re.match(r"bytes (\d+)-\d+/(\d+)$", response.headers.get("content-range", ""))
    return (
        content_range is not None
        and int(content_range[1]) == sink.size
        and sink.representation.length in (None, int(content_range[2]))
        and response.headers.get("etag") == sink.representation.etag
        and response.headers.get("content-encoding", "identity") == sink.representation.encoding
    )


def _representation(request: Request, response: Response) -> Representation:
    headers = response.headers
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
