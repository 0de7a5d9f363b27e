"""Plans of the methods that describe datasets, page through features and save files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from wayleave._contract import COMPRESSED_FORMATS, EXTENSIONS
from wayleave._errors import BadRequestError, NotFoundError, WayleaveError
from wayleave._extras import need
from wayleave._hints import column_hint, name_hint
from wayleave._http.deliver import Progress, deliver
from wayleave._http.retry import Policy, request
from wayleave._http.sink import PartFile
from wayleave._http.steps import Plan, Request, compute, spent
from wayleave._models import Archive, Metadata, Page, archive_of, metadata_of, page_of
from wayleave._selection import Selection
from wayleave._settings import Settings
from wayleave._tables.frames import frame_of_rows, no_garbage_collection

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


def datasets(policy: Policy) -> Plan[list[Metadata]]:
    return (yield from fetch("/v1/datasets", policy, lambda body: [metadata_of(one) for one in body["data"]]))


def dataset(table: str, policy: Policy) -> Plan[Metadata]:
    return (yield from with_table_hint(table, fetch(f"/v1/dataset/{segment(table)}", policy, metadata_of)))


def archives(table: str, policy: Policy) -> Plan[list[Archive]]:
    path = f"/v1/dataset/{segment(table)}/archives"
    listed = fetch(path, policy, lambda body: [archive_of(one) for one in body["data"]])
    return (yield from with_table_hint(table, listed))


def sample(settings: Settings, table: str, policy: Policy) -> Plan[pd.DataFrame]:
    need("pandas", "pandas", "A dataframe")
    metadata = yield from dataset(table, policy)
    path = f"/v1/dataset/{segment(table)}/sample/json"
    rows = yield from fetch(path, policy, list[dict[str, Any]])
    frame = frame_of_rows(rows, metadata.columns, metadata.geometry_type is not None)
    frame.attrs.update((yield from provenance(settings, metadata)))
    return frame


def download(
    table: str,
    format: str,
    path: Path,
    options: Mapping[str, Any],
    policy: Policy,
    progress: Progress,
) -> Plan[Path]:
    part, version = PartFile(path), options.get("version")
    asked = with_max_credits(file_request(table, format, version, policy), options)
    try:
        yield from deliver(asked, part, policy, progress)
        return (yield from compute(part.finish))
    except NotFoundError as error:
        error.add_hint((yield from _file_hint(table, format, version)))
        raise
    finally:
        part.close()


def items_page(
    table: str,
    params: Mapping[str, str],
    selection: Selection,
    policy: Policy,
    received: Callable[[int], None] = lambda _bytes: None,
) -> Plan[Page]:
    path = f"/v1/ogc/collections/{segment(table)}/items"
    try:
        return (yield from with_table_hint(table, fetch(path, policy, page_of, params, received)))
    except BadRequestError as error:
        columns = yield from column_names(table, policy)
        error.add_hint(column_hint(error, selection.names(), columns) or "" if columns else "")
        raise


def column_names(table: str, policy: Policy) -> Plan[list[str]]:
    """For a hint: empty if they cannot be fetched at once."""
    metadata = yield from _quietly(dataset(table, _once(policy)))
    return [] if metadata is None else [column.name for column in metadata.columns]


def provenance(settings: Settings, metadata: Metadata, version: int | None = None) -> Plan[dict[str, Any]]:
    """The provenance of a result: source, license, version and credits."""
    credits = yield from spent()
    return {
        "table": metadata.table,
        "title": metadata.title,
        "license": metadata.license,
        "attribution": metadata.attribution,
        "version": metadata.version if version is None else version,
        "updated_at": metadata.updated_at.isoformat(),
        "source": f"{settings.shown_url().rstrip('/')}/v1/dataset/{metadata.table}",
        "credits_charged": credits.charged,
        "credits_remaining": credits.remaining,
    }


def file_path(table: str, format: str, path: str | Path | None) -> Path:
    """Where a download goes: to the path, into the folder, or into the working folder."""
    name = f"{table}.{EXTENSIONS.get(format, format)}"
    if path is None:
        return Path(name)
    target = Path(path).expanduser()
    return target / name if target.is_dir() else target


def file_request(table: str, format: str, version: int | None, policy: Policy) -> Request:
    archive = "" if version is None else f"/archives/{int(version)}"
    return Request(
        f"/v1/dataset/{segment(table)}{archive}/files/{segment(format)}",
        headers={"Accept-Encoding": "identity" if format in COMPRESSED_FORMATS else "gzip"},
        timeout=policy.timeout,
    )


def with_max_credits(request: Request, options: Mapping[str, Any]) -> Request:
    """The request, which fails if it costs more than the caller has allowed."""
    if options.get("max_credits") is None:
        return request
    return replace(request, headers={**request.headers, "Credits-Max": str(int(options["max_credits"]))})


def fetch(
    path: str,
    policy: Policy,
    build: Callable[[Any], T],
    params: Mapping[str, str] | None = None,
    received: Callable[[int], None] = lambda _bytes: None,
) -> Plan[T]:
    """A JSON document, built into an object."""
    response = yield from request(Request(path, params=params or {}, timeout=policy.timeout), policy)
    received(len(response.body))

    def parse() -> T:
        try:
            with no_garbage_collection():
                return build(json.loads(response.body))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise WayleaveError("The response is not from a Wayleave service. Check the base URL.") from error

    return (yield from compute(parse))


def with_table_hint(table: str, plan: Plan[T]) -> Plan[T]:
    """Runs the plan; if it fails with 404 because of the table's name, the error suggests another."""
    try:
        return (yield from plan)
    except NotFoundError as error:
        error.add_hint((yield from _table_hint(table)))
        raise


def segment(text: str) -> str:
    if not isinstance(text, str):
        hint = " Pass its attribute table." if isinstance(text, Metadata) else ""
        raise TypeError(
            f"Datasets, formats and jobs are named by a text, not by {type(text).__name__}.{hint}"
        )
    return quote(text, safe="")


def _table_hint(table: str) -> Plan[str]:
    listed = yield from _quietly(datasets(_once()))
    names = [one.table for one in listed or ()]
    return "" if listed is None or table in names else name_hint(table, names, "datasets")


def _file_hint(table: str, format: str, version: int | None) -> Plan[str]:
    hint = yield from _table_hint(table)
    if hint:
        return hint
    metadata = yield from _quietly(dataset(table, _once()))
    formats = [] if metadata is None else [one.format for one in metadata.formats]
    if formats and format not in formats:
        return name_hint(format, formats, "formats")
    versions = yield from _quietly(archives(table, _once()))
    if version is not None and versions and version not in [one.version for one in versions]:
        return f"The versions are {', '.join(str(one.version) for one in versions[:20])}."
    return ""


def _once(policy: Policy | None = None) -> Policy:
    """For a request that only improves an error message: short, and without retries."""
    return Policy(timeout=5, max_retries=0, random=policy.random if policy else lambda: 0.0)


def _quietly(plan: Plan[T]) -> Plan[T | None]:
    try:
        return (yield from plan)
    except WayleaveError:
        return None
