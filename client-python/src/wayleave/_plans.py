"""What the clients can do, as plans: one for each verb."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from wayleave._deliver import Progress, deliver
from wayleave._errors import WayleaveError
from wayleave._extras import has, need
from wayleave._frames import (
    frame_of_features,
    frame_of_geojson,
    frame_of_geoparquet,
    frame_of_json,
    frame_of_rows,
)
from wayleave._models import Archive, Column, Dataset, Feature, Page, archive_of, dataset_of, page_of
from wayleave._retry import Policy, request
from wayleave._sink import MemorySink, PartFile
from wayleave._steps import Plan, Request, compute

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd

T = TypeVar("T")

EXTENSIONS = {"shp": "shp.zip", "geoparquet": "parquet"}
PACKED_ALREADY = frozenset({"shp", "geoparquet", "gpkg", "fgb"})


def datasets(policy: Policy) -> Plan[list[Dataset]]:
    return (
        yield from _answer("/v1/datasets", policy, lambda body: [dataset_of(one) for one in body["data"]])
    )


def dataset(table: str, policy: Policy) -> Plan[Dataset]:
    return (yield from _answer(f"/v1/dataset/{_segment(table)}", policy, dataset_of))


def archives(table: str, policy: Policy) -> Plan[list[Archive]]:
    path = f"/v1/dataset/{_segment(table)}/archives"
    return (yield from _answer(path, policy, lambda body: [archive_of(one) for one in body["data"]]))


def sample(table: str, policy: Policy) -> Plan[pd.DataFrame]:
    need("pandas", "pandas", "A dataframe")
    known = yield from dataset(table, policy)
    path = f"/v1/dataset/{_segment(table)}/sample/json"
    rows = yield from _answer(path, policy, list[dict[str, Any]])
    return frame_of_rows(rows, known.columns, known.geometry_type is not None)


def read(
    table: str, format: str, version: int | None, policy: Policy, progress: Progress
) -> Plan[gpd.GeoDataFrame]:
    # Before anything is paid for.
    need("geopandas", "geo", "A geodataframe")
    if format not in ("auto", "geojson", "geoparquet"):
        raise ValueError(f'format must be "auto", "geojson" or "geoparquet", not {format!r}.')
    columns, geometry_type, formats = yield from _schema(table, version, policy)
    if geometry_type is None:
        raise WayleaveError(f'The dataset "{table}" has no geometry: use read_table().')
    if format == "auto":
        format = "geoparquet" if has("pyarrow") and "geoparquet" in formats else "geojson"
    content = yield from _content(table, format, version, policy, progress)
    build = frame_of_geoparquet if format == "geoparquet" else frame_of_geojson
    return (yield from compute(lambda: build(content, columns)))


def read_table(table: str, version: int | None, policy: Policy, progress: Progress) -> Plan[pd.DataFrame]:
    need("pandas", "pandas", "A dataframe")
    columns, geometry_type, _ = yield from _schema(table, version, policy)
    content = yield from _content(table, "json", version, policy, progress)
    return (yield from compute(lambda: frame_of_json(content, columns, geometry_type is not None)))


def download(
    table: str, format: str, path: Path, version: int | None, policy: Policy, progress: Progress
) -> Plan[Path]:
    part = PartFile(path)
    try:
        yield from deliver(_file_request(table, format, version, policy), part, policy, progress)
        return (yield from compute(part.finish))
    finally:
        part.close()


def items_page(table: str, params: Mapping[str, str], policy: Policy) -> Plan[Page]:
    path = f"/v1/ogc/collections/{_segment(table)}/items"
    return (yield from _answer(path, policy, page_of, params))


def read_items(table: str, params: Mapping[str, str] | None, policy: Policy) -> Plan[gpd.GeoDataFrame]:
    need("geopandas", "geo", "A geodataframe")
    known = yield from dataset(table, policy)
    features: list[Feature] = []
    next_params = params
    while next_params is not None:
        page = yield from items_page(table, next_params, policy)
        features += page.features
        next_params = page.next_params
    return (yield from compute(lambda: frame_of_features(features, known.columns)))


def items_params(
    limit: int | None,
    bbox: Sequence[float] | None,
    filter: str | Mapping[str, Any] | None,
    datetime: str | None,
    sortby: str | Sequence[str] | None,
    properties: Sequence[str] | None,
) -> dict[str, str]:
    given = {
        "limit": None if limit is None else str(int(limit)),
        "bbox": None if bbox is None else ",".join(repr(float(number)) for number in bbox),
        "filter": filter if filter is None or isinstance(filter, str) else json.dumps(filter),
        "filter-lang": None if filter is None else "cql2-text" if isinstance(filter, str) else "cql2-json",
        "datetime": datetime,
        "sortby": sortby if sortby is None or isinstance(sortby, str) else ",".join(sortby),
        "properties": None if properties is None else ",".join(properties),
    }
    return {name: value for name, value in given.items() if value is not None}


def file_path(table: str, format: str, path: str | Path | None) -> Path:
    """Where a download goes: the path given, or into the folder given, or into the working folder."""
    name = f"{table}.{EXTENSIONS.get(format, format)}"
    if path is None:
        return Path(name)
    given = Path(path)
    return given / name if given.is_dir() else given


def _schema(
    table: str, version: int | None, policy: Policy
) -> Plan[tuple[list[Column], str | None, list[str]]]:
    known = yield from dataset(table, policy)
    if version is None or version == known.version:
        return known.columns, known.geometry_type, [one.format for one in known.formats]
    for archive in (yield from archives(table, policy)):
        if archive.version == version:
            columns = known.columns if archive.columns is None else archive.columns
            return columns, archive.geometry_type, [one.format for one in archive.formats]
    # The service's own answer for a version that does not exist.
    return known.columns, known.geometry_type, ["geojson"]


def _content(table: str, format: str, version: int | None, policy: Policy, progress: Progress) -> Plan[bytes]:
    sink = MemorySink()
    yield from deliver(_file_request(table, format, version, policy), sink, policy, progress)
    return (yield from compute(sink.content))


def _file_request(table: str, format: str, version: int | None, policy: Policy) -> Request:
    archive = "" if version is None else f"/archives/{int(version)}"
    return Request(
        f"/v1/dataset/{_segment(table)}{archive}/files/{_segment(format)}",
        headers={"Accept-Encoding": "identity" if format in PACKED_ALREADY else "gzip"},
        timeout=policy.timeout,
    )


def _answer(
    path: str, policy: Policy, build: Callable[[Any], T], params: Mapping[str, str] | None = None
) -> Plan[T]:
    answer = yield from request(Request(path, params=params or {}, timeout=policy.timeout), policy)
    try:
        return build(json.loads(answer.body))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise WayleaveError(
            "The answer makes no sense: the base URL seems to lead to something else than a Wayleave service."
        ) from error


def _segment(text: str) -> str:
    return quote(text, safe="")
