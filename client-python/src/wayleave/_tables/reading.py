"""Plans that read a dataset into a frame or a table.

Without a selection they take the whole file, which costs the dataset's price; with one, pages of features,
which are free of charge, or one file of all selected rows if that is free too and there are many.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayleave._errors import APIStatusError, WayleaveError, WayleaveWarning
from wayleave._extras import has, need
from wayleave._http.deliver import Progress, deliver
from wayleave._http.plans import archives, dataset, file_request, items_page, provenance, segment
from wayleave._http.retry import Policy, request
from wayleave._http.sink import MemorySink, unpacked
from wayleave._http.steps import Plan, Request, compute
from wayleave._models import Column, Feature, Metadata, Page
from wayleave._selection import MAX_PAGE, Selection, empty_hint, name_list, selection_of
from wayleave._settings import Settings
from wayleave._tables.arrow import (
    arrow_of_features,
    arrow_of_geoparquet,
    duckdb_of,
    polars_of,
    with_provenance,
)
from wayleave._tables.frames import (
    COORDINATES,
    frame_of_features,
    frame_of_geojson,
    frame_of_geoparquet,
    frame_of_json,
    table_of_features,
)
from wayleave._tables.ids import ID_NAMES

if TYPE_CHECKING:
    import duckdb
    import geopandas as gpd
    import pandas as pd
    import polars as pl
    import pyarrow as pa

FORMATS = ("auto", "geojson", "geoparquet")
FEW_PAGES = 2
"""So many pages are cheaper for the service than writing a file."""


def read(
    settings: Settings, table: str, options: Mapping[str, Any], progress: Progress
) -> Plan[gpd.GeoDataFrame]:
    # Everything that can fail without the service fails before anything is paid for.
    need("geopandas", "geo", "A geodataframe")
    crs = (
        None
        if options.get("crs") is None
        else need("pyproj", "geo", "A CRS").CRS.from_user_input(options["crs"])
    )
    format = options.get("format", "auto")
    if format not in FORMATS:
        raise ValueError(f'format must be "auto", "geojson" or "geoparquet", not {format!r}.')
    source = _Source(settings, table, options, progress)
    if format != "auto":
        source.refuse_selection("format")
    metadata = yield from source.describe()
    _require_geometry(metadata)
    if not source.selection.is_everything:
        selected = yield from source.selected(metadata)
        columns = _result_columns(metadata, source.selection)
        frame = yield from compute(
            lambda: (
                frame_of_geoparquet(selected, columns)
                if isinstance(selected, bytes)
                else frame_of_features(selected, columns, _names(metadata), metadata.id_column)
            )
        )
    else:
        if format == "auto":
            offered = [one.format for one in metadata.formats]
            format = "geoparquet" if has("pyarrow") and "geoparquet" in offered else "geojson"
        content = yield from source.file(format)
        build = frame_of_geoparquet if format == "geoparquet" else frame_of_geojson
        frame = yield from compute(lambda: build(content, metadata.columns))
    if crs is not None:
        frame = yield from compute(lambda: frame.to_crs(crs))
    frame.attrs.update((yield from provenance(settings, metadata)))
    return frame


def read_table(
    settings: Settings, table: str, options: Mapping[str, Any], progress: Progress
) -> Plan[pd.DataFrame]:
    need("pandas", "pandas", "A dataframe")
    source = _Source(settings, table, options, progress)
    metadata = yield from source.describe()
    spatial = metadata.geometry_type is not None
    if source.selection.is_everything:
        content = yield from source.file("json")
        frame = yield from compute(lambda: frame_of_json(content, metadata.columns, spatial))
    else:
        features = yield from source.features(metadata, COORDINATES if spatial else ())
        columns = _result_columns(metadata, source.selection)
        frame = yield from compute(
            lambda: table_of_features(features, columns, spatial, _names(metadata), metadata.id_column)
        )
    frame.attrs.update((yield from provenance(settings, metadata)))
    return frame


def read_arrow(
    settings: Settings, table: str, options: Mapping[str, Any], progress: Progress, extra: str = "arrow"
) -> Plan[pa.Table]:
    need("pyarrow", extra, "An Arrow table")
    source = _Source(settings, table, options, progress)
    metadata = yield from source.describe()
    if source.selection.is_everything:
        content = yield from source.file("geoparquet")
        result = yield from compute(lambda: arrow_of_geoparquet(content, metadata.columns, extra))
    else:
        selected = yield from source.selected(metadata)
        columns, spatial = _result_columns(metadata, source.selection), metadata.geometry_type is not None
        names, ids = _names(metadata), metadata.id_column
        result = yield from compute(
            lambda: (
                arrow_of_geoparquet(selected, columns, extra)
                if isinstance(selected, bytes)
                else arrow_of_features(selected, columns, names, spatial, extra, ids)
            )
        )
    return with_provenance(result, (yield from provenance(settings, metadata)))


def read_polars(
    settings: Settings, table: str, options: Mapping[str, Any], progress: Progress
) -> Plan[pl.DataFrame]:
    need("polars", "polars", "A Polars frame")
    result = yield from read_arrow(settings, table, options, progress, "polars")
    return (yield from compute(lambda: polars_of(result)))


def read_duckdb(
    settings: Settings, table: str, options: Mapping[str, Any], progress: Progress
) -> Plan[duckdb.DuckDBPyRelation]:
    need("duckdb", "duckdb", "A DuckDB relation")
    result = yield from read_arrow(settings, table, options, progress, "duckdb")
    # In the caller's thread, to which DuckDB's connections belong.
    return duckdb_of(result, options.get("connection"))


def read_items(
    settings: Settings, table: str, params: Mapping[str, str] | None, selection: Selection, policy: Policy
) -> Plan[gpd.GeoDataFrame]:
    """The pages that are left, as one frame."""
    need("geopandas", "geo", "A geodataframe")
    metadata = yield from dataset(table, policy)
    _require_geometry(metadata)
    features: list[Feature] = []
    if params is not None:
        requested = _requested_columns(metadata, selection)
        if requested is not None:
            params = {**params, "properties": name_list(requested)}
        features = yield from _features(table, params, selection, policy, None)
    columns = _result_columns(metadata, selection)
    frame = yield from compute(
        lambda: frame_of_features(features, columns, _names(metadata), metadata.id_column)
    )
    frame.attrs.update((yield from provenance(settings, metadata)))
    return frame


def describe_version(table: str, version: int | None, policy: Policy) -> Plan[Metadata]:
    """The metadata, with the columns and formats of the version that is read."""
    metadata = yield from dataset(table, policy)
    if version is None or version == metadata.version:
        return metadata
    for one in (yield from archives(table, policy)):
        if one.version == version:
            columns = metadata.columns if one.columns is None else one.columns
            return replace(
                metadata,
                version=one.version,
                updated_at=one.created_at,
                geometry_type=one.geometry_type,
                columns=columns,
                formats=one.formats,
                # That of the current version.
                id_column=None,
            )
    # The service itself responds that the version does not exist.
    return replace(metadata, version=version)


class _Source:
    """The dataset, version and selection that a call reads."""

    def __init__(
        self, settings: Settings, table: str, options: Mapping[str, Any], progress: Progress
    ) -> None:
        self.selection = selection_of(options)
        self._settings = settings
        self._table = table
        self._progress = progress
        self._version: int | None = options.get("version")
        self._policy = settings.policy(options)
        if self._version is not None:
            self.refuse_selection("version")

    def refuse_selection(self, argument: str) -> None:
        """Pages exist only of the current version, and in one format."""
        if not self.selection.is_everything:
            raise ValueError(
                f"{argument} cannot be combined with bbox, filter, datetime, sortby, columns or limit: "
                "only whole files have it."
            )

    def describe(self) -> Plan[Metadata]:
        return (yield from describe_version(self._table, self._version, self._policy))

    def file(self, format: str) -> Plan[bytes]:
        """A whole download, from the cache if the service confirms that it is current."""
        settings, policy, sink = self._settings, self._policy, MemorySink()
        request = file_request(self._table, format, self._version, policy)
        cache = settings.cache
        if cache is None:
            yield from deliver(request, sink, policy, self._progress)
            return (yield from compute(sink.content))
        address = settings.base_url + request.path
        entry = yield from compute(lambda: cache.find(address))
        if entry is not None and entry.representation.etag is not None:
            request = replace(
                request, headers={**request.headers, "If-None-Match": entry.representation.etag}
            )
        changed = yield from deliver(request, sink, policy, self._progress)
        if not changed and entry is not None:
            self._progress(len(entry.content), len(entry.content))
            return (yield from compute(lambda: unpacked(entry.content, entry.representation.encoding)))
        content = yield from compute(sink.content)
        if sink.representation is not None:
            representation, raw = sink.representation, sink.raw()
            yield from compute(lambda: cache.keep(address, representation, raw))
        return content

    def selected(self, metadata: Metadata) -> Plan[list[Feature] | bytes]:
        """The selected features; if they are many, a GeoParquet file of them, which is parsed much faster."""
        selection = self.selection
        # A file has all columns and rows, in the order of the dataset.
        is_whole = selection.limit is None and selection.columns is None and selection.sortby is None
        if is_whole and has("pyarrow"):
            first = yield from items_page(self._table, selection.params(MAX_PAGE), selection, self._policy)
            if first.next_params is not None:
                content = yield from self._extract()
                if content is not None:
                    return content
            return (yield from self._hinted(metadata, self._pages(selection.params(MAX_PAGE), first)))
        return (yield from self.features(metadata))

    def _extract(self) -> Plan[bytes | None]:
        """The selected rows as one file; None if they are few, or the service has none that costs nothing."""
        path = f"/v1/ogc/collections/{segment(self._table)}/extract"
        params = {**self.selection.params(MAX_PAGE), "f": "parquet"}
        del params["limit"]
        asked = Request(path, "HEAD", params, timeout=self._policy.timeout)
        try:
            head = (yield from request(asked, self._policy)).headers
            count = int(head.get("ogc-numberreturned", "0"))
            if count <= FEW_PAGES * MAX_PAGE or head.get("wayleave-credits", "0") != "0":
                return None
            sink = MemorySink()
            wanted = replace(asked, method="GET", headers={"Accept-Encoding": "identity"})
            yield from deliver(wanted, sink, self._policy, self._progress)
        except APIStatusError:
            # Too many rows for one file, or a service without such files: pages say what else is wrong.
            return None
        return (yield from compute(sink.content))

    def features(self, metadata: Metadata, added: Sequence[Column] = ()) -> Plan[list[Feature]]:
        """The selected features of all pages. `added` are columns that only the result has."""
        selection = self.selection
        page_size = MAX_PAGE if selection.limit is None else min(selection.limit, MAX_PAGE)
        params = selection.params(page_size, _requested_columns(metadata, selection, added))
        return (yield from self._hinted(metadata, self._pages(params)))

    def _pages(self, params: Mapping[str, str], first: Page | None = None) -> Plan[list[Feature]]:
        selection, limit = self.selection, self.selection.limit
        return (
            yield from _features(self._table, params, selection, self._policy, limit, self._progress, first)
        )

    def _hinted(self, metadata: Metadata, plan: Plan[list[Feature]]) -> Plan[list[Feature]]:
        """Warns if nothing is selected because the box is elsewhere."""
        selection, features = self.selection, (yield from plan)
        if not features and selection.bbox is not None:
            hint = empty_hint(selection.bbox, metadata.bbox)
            if hint is not None:
                warnings.warn(hint, WayleaveWarning, stacklevel=_stack_level())
        return features


def _features(
    table: str,
    params: Mapping[str, str],
    selection: Selection,
    policy: Policy,
    limit: int | None,
    progress: Progress = lambda _received, _total: None,
    first: Page | None = None,
) -> Plan[list[Feature]]:
    """The features of all pages; `first` is the first one, if it is there already."""
    features: list[Feature] = []
    received = 0

    def report(size: int) -> None:
        nonlocal received
        received += size
        progress(received, None)

    next_params: Mapping[str, str] | None = params
    while next_params is not None:
        page = first or (yield from items_page(table, next_params, selection, policy, report))
        first = None
        features += page.features
        next_params = page.next_params
        if limit is not None:
            remaining_count = limit - len(features)
            next_params = (
                None
                if remaining_count <= 0 or next_params is None
                else {**next_params, "limit": str(min(remaining_count, MAX_PAGE))}
            )
    return features


def _stack_level() -> int:
    """How far up the stack the line stands that called this package, for a warning that points at it."""
    package = str(Path(__file__).parents[1])
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    return level


def _require_geometry(metadata: Metadata) -> None:
    """A geodataframe has a column `geometry`: empty, it would replace a column of that name."""
    if metadata.geometry_type is None:
        raise WayleaveError(f'The dataset "{metadata.table}" has no geometry: use read_table().')


def _names(metadata: Metadata) -> list[str]:
    return [column.name for column in metadata.columns]


def _requested_columns(
    metadata: Metadata, selection: Selection, added: Sequence[Column] = ()
) -> list[str] | None:
    """The columns to request; None for all.

    Names that the result has anyway are left out. The dataset's own `id` is always requested: its values
    decide under which name the features' ids appear.
    """
    if selection.columns is None:
        return None
    own = _names(metadata)
    result_names = ("geometry", *ID_NAMES, *(column.name for column in added))
    requested = [name for name in selection.columns if name in own or name not in result_names]
    return [*requested, "id"] if "id" in own and "id" not in requested else requested


def _result_columns(metadata: Metadata, selection: Selection) -> list[Column]:
    """The columns of a result, in the caller's order if the caller named them."""
    if selection.columns is None:
        return metadata.columns
    by_name = {column.name: column for column in metadata.columns}
    return [by_name[name] for name in dict.fromkeys(selection.columns) if name in by_name]
