"""The plans for publishers: look at a file, fix the schema, release drafts, roll back, and set sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wayleave._errors import WayleaveError
from wayleave._http.deliver import Progress
from wayleave._http.plans import fetch, segment
from wayleave._http.retry import Policy, request
from wayleave._http.steps import Plan, Request
from wayleave._publishing import inspect_file
from wayleave._settings import Settings

Record = Mapping[str, Any]


def inspect(settings: Settings, file: Path, options: Record, progress: Progress) -> Plan[Record]:
    """What the file contains and what publishing it would do. Nothing is published."""
    job_id = yield from inspect_file(settings, file, options, progress)
    policy = settings.policy(options)
    job = yield from fetch(f"/v1/jobs/{segment(job_id)}", policy, _record)
    inspection: Record = job["inspection"]
    return inspection


def read(settings: Settings, table: str, what: str, policy: Policy) -> Plan[Record]:
    settings.require_key()
    return (yield from fetch(f"/v1/dataset/{segment(table)}/{what}", policy, _record))


def write(
    settings: Settings, method: str, table: str, what: str, policy: Policy, body: Record | None = None
) -> Plan[Record]:
    """Returns what the service responds with, if anything."""
    settings.require_key()
    sent = Request(
        f"/v1/dataset/{segment(table)}/{what}",
        method=method,
        headers={} if body is None else {"Content-Type": "application/json"},
        content=None if body is None else json.dumps(body).encode(),
        timeout=policy.timeout,
    )
    # If the response to another method is lost, repeating the request would tell that there is nothing to do.
    is_repeatable = method == "PUT"
    response = yield from request(sent, policy if is_repeatable else replace(policy, max_retries=0))
    return _parsed(response.body) if response.body else {}


def source_body(address: str, options: Record) -> Record:
    """`options` are `SourceOptions`."""
    names = {"every": "every", "headers": "headers", "reading": "options"}
    sent = {names[name]: value for name, value in options.items() if name in names and value is not None}
    return {"address": address, **sent}


def _record(record: Record) -> Record:
    return record


def _parsed(body: bytes) -> Record:
    try:
        record: Record = json.loads(body)
    except ValueError as error:
        raise WayleaveError("The response is not JSON.") from error
    return record
