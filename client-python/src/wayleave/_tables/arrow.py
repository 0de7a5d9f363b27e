"""Downloads and features to Arrow tables, from which Polars and DuckDB take them.

boolean    bool
integer    int64; decimal128(38, 0) if a value does not fit 64 bits; text beyond 38 digits
number     double
text       string
date       date32
timestamp  timestamp[us, UTC]
json       string of JSON
geometry   binary WKB, marked as geoarrow.wkb in OGC:CRS84
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from wayleave._extras import need
from wayleave._models import Column, Feature
from wayleave._tables.geometries import geometries_of
from wayleave._tables.ids import id_column, ids_first

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

GEOMETRY = "geometry"
GEOARROW = {
    "ARROW:extension:name": "geoarrow.wkb",
    "ARROW:extension:metadata": json.dumps({"crs": "OGC:CRS84", "crs_type": "authority_code"}),
}
# GeoParquet's description, so that a table that is saved as Parquet is a GeoParquet file.
GEO = {
    "version": "1.0.0",
    "primary_column": GEOMETRY,
    "columns": {GEOMETRY: {"encoding": "WKB", "geometry_types": []}},
}
MAX_DIGITS = 38


def arrow_of_geoparquet(content: bytes, columns: Sequence[Column], extra: str) -> pa.Table:
    """The GeoParquet download."""
    pyarrow = need("pyarrow", extra, "An Arrow table")
    table = need("pyarrow.parquet", extra, "An Arrow table").read_table(pyarrow.BufferReader(content))
    geo = json.loads((table.schema.metadata or {}).get(b"geo", b"{}"))
    geometry = geo.get("primary_column")
    names = ids_first(table.column_names, [column.name for column in columns])
    arrays = {name: _plain(table.column(name)) for name in names if name != geometry}
    return _table(arrays, table.column(geometry) if geometry else None, geo or None, extra)


def arrow_of_features(
    features: Sequence[Feature],
    columns: Sequence[Column],
    names: Collection[str],
    spatial: bool,
    extra: str,
    known_ids: Column | None = None,
) -> pa.Table:
    """Features of pages, typed like the download. `names` are those of all columns of the dataset."""
    rows = [feature["properties"] for feature in features]
    arrays = {
        column.name: _array([row.get(column.name) for row in rows], column, extra) for column in columns
    }
    ids = [feature.get("id") for feature in features]
    name = id_column(names, list(arrays), ids, [row.get("id") for row in rows], known_ids)
    if name is not None:
        arrays = {name: _id_array(ids, known_ids, extra), **arrays}
    if not spatial:
        return _table(arrays, None, None, extra)
    pyarrow = need("pyarrow", extra, "An Arrow table")
    shapely = need("shapely", extra, "A geometry")
    shapes = geometries_of([feature["geometry"] for feature in features])
    # ISO, since GeoArrow and GeoParquet allow no extended WKB for heights.
    wkb = [None if one is None else shapely.to_wkb(one, flavor="iso") for one in shapes]
    return _table(arrays, pyarrow.array(wkb, pyarrow.binary()), GEO, extra)


def with_provenance(table: pa.Table, attributes: Mapping[str, Any]) -> pa.Table:
    """The table with license, attribution, version and so on in its schema's metadata, as JSON."""
    metadata = {**(table.schema.metadata or {}), b"wayleave": json.dumps(dict(attributes)).encode()}
    return table.replace_schema_metadata(metadata)


def polars_of(table: pa.Table) -> pl.DataFrame:
    """The table for Polars, with geometries as plain WKB."""
    pyarrow = need("pyarrow", "polars", "A Polars frame")
    plain = pyarrow.table({name: table.column(name) for name in table.column_names})
    frame: pl.DataFrame = need("polars", "polars", "A Polars frame").from_arrow(plain)
    return frame


def duckdb_of(table: pa.Table, connection: duckdb.DuckDBPyConnection | None) -> duckdb.DuckDBPyRelation:
    """The table for DuckDB, which reads marked geometries as its own type."""
    relation: duckdb.DuckDBPyRelation = (
        connection or need("duckdb", "duckdb", "A DuckDB relation")
    ).from_arrow(table)
    return relation


def _table(arrays: Mapping[str, Any], geometry: Any, geo: Mapping[str, Any] | None, extra: str) -> pa.Table:  # noqa: ANN401
    pyarrow = need("pyarrow", extra, "An Arrow table")
    fields = [pyarrow.field(name, array.type) for name, array in arrays.items()]
    values = list(arrays.values())
    if geometry is not None:
        fields.append(pyarrow.field(GEOMETRY, pyarrow.binary(), metadata=GEOARROW))
        values.append(geometry.cast(pyarrow.binary()))
    metadata = None if geo is None else {"geo": json.dumps(geo)}
    return pyarrow.table(values, schema=pyarrow.schema(fields, metadata))


def _plain(array: Any) -> Any:  # noqa: ANN401
    """Parquet's annotated types as the types that they store: JSON is text."""
    storage = getattr(array.type, "storage_type", None)
    return array if storage is None else array.cast(storage)


def _array(values: list[Any], column: Column, extra: str) -> Any:  # noqa: ANN401
    pyarrow = need("pyarrow", extra, "An Arrow table")
    kind = column.type
    try:
        if kind == "boolean":
            return pyarrow.array(values, pyarrow.bool_())
        if kind == "integer":
            return _integers(values, extra)
        if kind == "number":
            return pyarrow.array([None if one is None else float(one) for one in values], pyarrow.float64())
        if kind == "date":
            return pyarrow.array(values, pyarrow.string()).cast(pyarrow.date32())
        if kind == "timestamp":
            return pyarrow.array(values, pyarrow.string()).cast(pyarrow.timestamp("us", "UTC"))
        if kind == "text":
            return pyarrow.array(values, pyarrow.string())
    except (TypeError, ValueError, pyarrow.ArrowException):
        pass
    texts = [
        one if one is None or (isinstance(one, str) and kind != "json") else _json(one) for one in values
    ]
    return pyarrow.array(texts, pyarrow.string())


def _integers(values: list[int | None], extra: str) -> Any:  # noqa: ANN401
    pyarrow = need("pyarrow", extra, "An Arrow table")
    try:
        return pyarrow.array(values, pyarrow.int64())
    except (OverflowError, pyarrow.ArrowInvalid):
        decimals = [None if one is None else Decimal(one) for one in values]
        return pyarrow.array(decimals, pyarrow.decimal128(MAX_DIGITS, 0))


def _id_array(ids: list[Any], known: Column | None, extra: str) -> Any:  # noqa: ANN401
    pyarrow = need("pyarrow", extra, "An Arrow table")
    is_integer = known.type == "integer" if known and not ids else bool(ids)
    if is_integer and all(type(one) is int for one in ids):
        return _integers(ids, extra)
    return pyarrow.array([None if one is None else str(one) for one in ids], pyarrow.string())


def _json(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
