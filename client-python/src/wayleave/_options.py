"""The keyword arguments of the methods.

Each group is a typed dictionary, so that Client, AsyncClient, Dataset and AsyncDataset share one definition,
and type checkers know every name and type. `takes` rejects unknown names at run time.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

from wayleave._http.deliver import Progress

if TYPE_CHECKING:
    import duckdb

Method = TypeVar("Method", bound=Callable[..., Any])


class CallOptions(TypedDict, total=False):
    """Arguments of every method; without them the client's own values apply."""

    timeout: float | None
    """Seconds without a byte after which the call is retried or fails; None waits forever."""
    max_retries: int
    """How often a failed call is retried."""


class ItemsOptions(CallOptions, total=False):
    """Which features to fetch."""

    bbox: Sequence[float] | None
    """West, south, east, north in degrees of WGS84."""
    filter: str | Mapping[str, Any] | None
    """CQL2, as text or as JSON."""
    datetime: str | None
    """An instant or an interval, as in OGC API - Features."""
    sortby: str | Sequence[str] | None
    """Column names; `-` before a name sorts descending."""
    columns: Sequence[str] | None
    """The columns to fetch; all without it."""
    limit: int | None
    """For `items` the size of a page, for all others the max number of rows."""


class PageOptions(ItemsOptions, total=False):
    """Arguments of `items`."""

    count: Literal["exact", "auto", "none"]
    """Whether `number_matched` is counted: always, if that is cheap (the default), or never."""


class TableOptions(ItemsOptions, total=False):
    """Which rows to fetch, from which version."""

    version: int | None
    """The version to read; the current one without it."""
    progress: bool | Progress
    """True shows a progress bar; a function is called with the bytes received and the total."""


class ReadOptions(TableOptions, total=False):
    """Arguments of `read`."""

    format: Literal["auto", "geojson", "geoparquet"]
    """The download that a whole dataset is read from."""
    crs: Any
    """The CRS of the result, in any form that pyproj accepts; EPSG:4326 without it."""


class DuckDBOptions(TableOptions, total=False):
    """Arguments of `read_duckdb`."""

    connection: duckdb.DuckDBPyConnection | None
    """The connection that the relation belongs to; DuckDB's default one without it."""


class AggregateOptions(CallOptions, total=False):
    """Arguments of `aggregate` beside `groupby` and `measures`."""

    bbox: Sequence[float] | None
    """West, south, east, north in degrees of WGS84."""
    filter: str | Mapping[str, Any] | None
    """CQL2, as text or as JSON."""
    datetime: str | None
    """An instant or an interval, as in OGC API - Features."""
    having: str | None
    """A condition on the groups, such as `count > 10`."""
    sortby: str | Sequence[str] | None
    """Parts of `groupby` and `measures`; `-` before a name sorts descending."""
    limit: int | None
    """The max number of groups; all without it."""
    others: bool
    """True adds the groups beyond `limit`, as one, to `attrs["others"]`."""
    geometry: bool
    """True returns a geodataframe with the areas of the cells or of the other dataset."""


class DownloadOptions(CallOptions, total=False):
    """Arguments of `download`."""

    version: int | None
    max_credits: int | None
    """The most credits that it may cost; if it costs more, it fails with 402 `price-higher`."""
    progress: bool | Progress


class ChangesOptions(CallOptions, total=False):
    """Arguments of `changes` and `update`."""

    to: int | None
    """The version that is wanted; the current one without it."""
    max_credits: int | None
    """The most credits that it may cost; if it costs more, it fails with 402 `price-higher`."""
    progress: bool | Progress


class SourceOptions(CallOptions, total=False):
    """Arguments of `Publisher.set_source`."""

    every: str | None
    """How often it is refreshed: an interval such as `6h`, or a cron expression."""
    headers: Mapping[str, str] | None
    """Sent with each request to the address."""
    reading: Mapping[str, Any] | None
    """How the file is read, such as `{"idColumn": "code"}`."""


class PublishOptions(CallOptions, total=False):
    """What to say of a dataset, and how to read its file. Fields left out keep their value."""

    title: str
    description: str
    license: str
    attribution: str
    contact: str
    visibility: Literal["public", "open", "private", "draft"]
    """Who sees the dataset, and who gets its data."""
    citation: str
    update_frequency: str
    """Such as `daily`, `monthly` or `annual`."""
    note: str
    """What is new in this version."""
    keywords: Sequence[str]
    credits: int
    """The price of one download."""
    filename: str
    """The file's name, if it differs from the path's last part."""
    format: str
    """The file's format, if its content does not show it."""
    layer: str
    """The layer of a file that has several."""
    crs: str
    """The CRS, if the file does not state it, such as EPSG:25832."""
    allow_inaccurate_crs: bool
    """Publish although the CRS cannot be brought to WGS84 within 20 m."""
    encoding: str
    """The encoding of texts, if the file does not state it, such as windows-1251."""
    longitude: str
    """The column of longitudes or x of a table; together with `latitude`."""
    latitude: str
    """The column of latitudes or y of a table."""
    geometry_column: str
    """The column of WKT, WKB, GeoJSON or points as text."""
    geometry: bool
    """False publishes a table without geometry, whatever the file holds."""
    header: bool
    """False if the first row of a table has no column names."""
    skip_lines: int
    """How many lines above a table are left out, such as a title; empty ones do not count."""
    header_lines: int
    """How many lines the column names of a table take; their texts are joined."""
    types: Mapping[str, str]
    """Types of columns, such as `{"zip": "text"}`: boolean, integer, number, text, date, timestamp, json."""
    id_column: str
    """The column that holds the features' ids."""
    time_column: str
    """The column that `datetime` filters."""
    skip_invalid: bool
    """Publish the valid rows and report the others."""
    max_problems: int
    """How many rows that cannot be published are listed: 1 to 1,000, 10 without it."""
    dry_run: bool
    """Do everything except making the version visible; the job has the report."""
    sample: bool
    """False publishes no free sample."""
    tiles: bool
    """False builds no vector tiles."""
    build_exports: bool
    """Build every download format before the version appears."""
    extract_price: Literal["share", "free", "whole"]
    """What a file of filtered rows costs."""
    schema: Mapping[str, Any]
    """What is fixed about this and later versions."""
    ignore_schema: bool
    """Publish although the file differs from the dataset's schema."""
    draft: bool
    """Keep the version back until it is released."""
    mode: Literal["append", "update"]
    """Add the file's features to the current version, or also replace features by their ids."""
    delete_missing: bool
    """With the mode `update`: remove the features that the file does not have."""
    wait: bool
    """False returns as soon as the file is uploaded."""
    progress: bool | Progress


class _ClientsOwn:
    def __repr__(self) -> str:
        return "<the client's>"


_SHOWN_DEFAULTS: dict[str, Any] = {
    "timeout": _ClientsOwn(),
    "max_retries": _ClientsOwn(),
    "progress": False,
    "format": "auto",
    "wait": True,
    "geometry": False,
}


_RENAMED = {"properties": "columns", "property": "columns", "fields": "columns", "where": "filter"}


def takes(options: type) -> Callable[[Method], Method]:
    """Makes a method with `**options` reject unknown names, and show the known ones in its signature."""
    # The arguments of every call come last.
    names = tuple(sorted(options.__annotations__, key=lambda name: name in CallOptions.__annotations__))

    def decorate(method: Method) -> Method:
        signature = inspect.signature(method)
        positional = [
            one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        allowed = {*names, *(one.name for one in positional)}

        @functools.wraps(method)
        def checked(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
            for name in keywords:
                if name not in allowed:
                    raise TypeError(_unexpected(method.__name__, name, names))
            return method(*arguments, **keywords)

        shown = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_SHOWN_DEFAULTS.get(name))
            for name in names
        ]
        checked.__signature__ = signature.replace(parameters=[*positional, *shown])  # type: ignore[attr-defined]
        if inspect.iscoroutinefunction(method) and hasattr(inspect, "markcoroutinefunction"):
            inspect.markcoroutinefunction(checked)
        return cast("Method", checked)

    return decorate


def _unexpected(method: str, name: str, names: Sequence[str]) -> str:
    similar = [_RENAMED[name]] if name in _RENAMED else difflib.get_close_matches(name, names, 1)
    hint = f" Did you mean {similar[0]!r}?" if similar else f" It takes {', '.join(names)}."
    return f"{method}() got an unexpected keyword argument {name!r}.{hint}"
