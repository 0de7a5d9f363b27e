"""The plans that publish a file: upload it, then follow the job."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wayleave._errors import ConnectionError, PublishError, TimeoutError, WayleaveError
from wayleave._http.deliver import Progress
from wayleave._http.plans import fetch, segment
from wayleave._http.retry import Policy, failure_of, request, wait_or_raise
from wayleave._http.steps import Plan, Request, Response, UploadBody, compute, pause, upload
from wayleave._models import Job, job_of
from wayleave._settings import Settings
from wayleave._tables.frame_file import save_as_parquet

FIRST_POLL = 0.2
LONGEST_POLL = 3.0

# The service's names for the arguments.
PARAMETERS = {
    "title": "title",
    "description": "description",
    "license": "license",
    "attribution": "attribution",
    "contact": "contact",
    "visibility": "visibility",
    "citation": "citation",
    "update_frequency": "updateFrequency",
    "note": "note",
    "keywords": "keywords",
    "credits": "credits",
    "filename": "filename",
    "format": "format",
    "layer": "layer",
    "crs": "crs",
    "allow_inaccurate_crs": "allowInaccurateCrs",
    "encoding": "encoding",
    "longitude": "longitude",
    "latitude": "latitude",
    "geometry_column": "geometryColumn",
    "geometry": "geometry",
    "header": "header",
    "skip_lines": "skipLines",
    "header_lines": "headerLines",
    "types": "types",
    "id_column": "idColumn",
    "time_column": "timeColumn",
    "skip_invalid": "skipInvalid",
    "max_problems": "maxProblems",
    "dry_run": "dryRun",
    "sample": "sample",
    "tiles": "tiles",
    "build_exports": "buildExports",
    "extract_price": "extractPrice",
    "schema": "schema",
    "ignore_schema": "ignoreSchema",
    "draft": "draft",
    "mode": "mode",
    "delete_missing": "deleteMissing",
}


def publish(
    settings: Settings, table: str, file: Path, options: Mapping[str, Any], progress: Progress
) -> Plan[Job]:
    settings.require_key()
    policy = settings.policy(options)
    size = file.stat().st_size
    request = Request(
        f"/v1/dataset/{segment(table)}",
        method="PUT",
        params=_params(file, options),
        headers={"Content-Type": "application/octet-stream", "Content-Length": str(size)},
        timeout=policy.timeout,
    )
    response = yield from _send(request, UploadBody(file, size, progress), policy)
    started = yield from compute(lambda: _job(response))
    return (yield from _finish(started, policy)) if options.get("wait", True) else started


def inspect_file(settings: Settings, file: Path, options: Mapping[str, Any], progress: Progress) -> Plan[str]:
    """Uploads a file to be inspected, and waits for that. Returns the id of the job."""
    settings.require_key()
    policy = settings.policy(options)
    size = file.stat().st_size
    request = Request(
        "/v1/inspect",
        method="POST",
        params=_params(file, options),
        headers={"Content-Type": "application/octet-stream", "Content-Length": str(size)},
        timeout=policy.timeout,
    )
    response = yield from _send(request, UploadBody(file, size, progress), policy)
    started = yield from compute(lambda: _job(response))
    return (yield from _finish(started, policy)).id


def job(settings: Settings, id: str, policy: Policy) -> Plan[Job]:
    settings.require_key()
    return (yield from fetch(f"/v1/jobs/{segment(id)}", policy, job_of))


def cancel_job(settings: Settings, id: str, policy: Policy) -> Plan[Job]:
    settings.require_key()
    # Cancelling twice is the same as once, so it may be tried again.
    cancelling = Request(f"/v1/jobs/{segment(id)}", method="DELETE", timeout=policy.timeout)
    response = yield from request(cancelling, policy)
    return (yield from compute(lambda: _job(response)))


@contextmanager
def source_file(source: Any, table: str) -> Iterator[Path]:  # noqa: ANN401
    """The file to upload: the path itself, or a dataframe saved as (Geo)Parquet in a temporary folder."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {str(path)!r}.")
        yield path
        return
    if not hasattr(source, "to_parquet"):
        kind = type(source)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"publish() takes a path or a dataframe of pandas, not {name}.")
    with tempfile.TemporaryDirectory(prefix="wayleave-") as folder:
        # The service refuses a table that is not a file name; the name is in its messages.
        path = Path(folder) / f"{segment(table)[:100]}.parquet"
        save_as_parquet(source, path)
        yield path


def _send(request: Request, body: UploadBody, policy: Policy) -> Plan[Response]:
    attempt = 0
    while True:
        try:
            response = yield from upload(request, body)
        except (ConnectionError, TimeoutError) as error:
            if body.sent >= body.size:
                # The response was lost: the job may run, and a retry would publish a second version.
                raise
            failure: WayleaveError = error
        else:
            refusal = failure_of(response)
            if refusal is None:
                return response
            failure = refusal
        yield from wait_or_raise(policy, attempt, failure)
        attempt += 1


def _finish(started: Job, policy: Policy) -> Plan[Job]:
    current, seconds = started, FIRST_POLL
    while current.state not in ("done", "failed", "cancelled"):
        yield from pause(seconds)
        seconds = min(seconds * 1.5, LONGEST_POLL)
        current = yield from fetch(f"/v1/jobs/{segment(started.id)}", policy, job_of)
    if current.state == "cancelled":
        raise PublishError("The publishing was cancelled.", [], 0)
    if current.state == "failed":
        problem = current.problem or {}
        raise PublishError(
            str(problem.get("detail") or "The file could not be published."),
            list(problem.get("problems") or ()),
            int(problem.get("problemCount") or 0),
        )
    return current


def _job(response: Response) -> Job:
    try:
        return job_of(json.loads(response.body))
    except (LookupError, TypeError, ValueError) as error:
        raise WayleaveError("The response about the job is invalid.") from error


def _params(file: Path, options: Mapping[str, Any]) -> dict[str, str]:
    params = {"filename": file.name}
    for name, parameter in PARAMETERS.items():
        value = options.get(name)
        if value is None:
            continue
        if name == "schema":
            params[parameter] = json.dumps(value)
        elif isinstance(value, bool):
            params[parameter] = "true" if value else "false"
        elif isinstance(value, (str, int)):
            params[parameter] = str(value)
        elif isinstance(value, Mapping):
            params[parameter] = ",".join(f"{column}={type_}" for column, type_ in value.items())
        else:
            params[parameter] = ",".join(value)
    return params
