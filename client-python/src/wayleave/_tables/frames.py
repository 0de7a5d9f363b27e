"""Downloads to dataframes."""

from __future__ import annotations

import gc
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wayleave._extras import need
from wayleave._models import Column, Feature
from wayleave._tables.columns import series_of, text_dtype
from wayleave._tables.geometries import geometries_of, geometries_of_wkb, positions_of
from wayleave._tables.ids import id_column, ids_first

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd

CRS = "EPSG:4326"
COORDINATES = (Column("longitude", "number", True), Column("latitude", "number", True))


def frame_of_rows(rows: Sequence[dict[str, Any]], columns: Sequence[Column], spatial: bool) -> pd.DataFrame:
    """Rows of the json export or the sample."""
    pandas = need("pandas", "pandas", "A dataframe")
    if spatial:
        renamed = _row_names(column.name for column in columns)
        columns = [replace(column, name=renamed[column.name]) for column in columns]
        columns = [*columns, *COORDINATES]
    return pandas.DataFrame(_series(rows, columns), copy=False)


def frame_of_json(content: bytes, columns: Sequence[Column], spatial: bool) -> pd.DataFrame:
    """The json export."""
    with no_garbage_collection():
        return frame_of_rows(json.loads(content), columns, spatial)


def frame_of_geojson(content: bytes, columns: Sequence[Column]) -> gpd.GeoDataFrame:
    """The GeoJSON export."""
    with no_garbage_collection():
        return frame_of_features(json.loads(content)["features"], columns)


def frame_of_features(
    features: Sequence[Feature],
    columns: Sequence[Column],
    names: Collection[str] | None = None,
    ids: Column | None = None,
) -> gpd.GeoDataFrame:
    """Features with their ids in the first column; `columns` also gives the order of the others.

    `names` are those of all columns of the dataset, if `columns` is a part of them; `ids` is what the service
    says about the ids.
    """
    geometry = geometries_of([feature["geometry"] for feature in features])
    return _geo_frame(_feature_series(features, columns, names, ids), geometry)


def table_of_features(
    features: Sequence[Feature],
    columns: Sequence[Column],
    spatial: bool,
    names: Collection[str] | None = None,
    ids: Column | None = None,
) -> pd.DataFrame:
    """Features as plain rows: ids, columns, then the longitude and latitude of a point on each shape.

    The columns have the names of the json export, in every part of the dataset.
    """
    pandas = need("pandas", "pandas", "A dataframe")
    data = _feature_series(features, columns, names, ids)
    if spatial:
        renamed = _row_names([*(names or ()), *data])
        data = {renamed[name]: values for name, values in data.items()}
        positions = positions_of([feature["geometry"] for feature in features])
        for column, values in zip(
            COORDINATES, zip(*positions, strict=True) if positions else ((), ()), strict=True
        ):
            data[column.name] = series_of(list(values), column)
    return pandas.DataFrame(data, index=pandas.RangeIndex(len(features)), copy=False)


def frame_of_geoparquet(content: bytes, columns: Sequence[Column]) -> gpd.GeoDataFrame:
    """The same frame as from GeoJSON, without parsing text."""
    pyarrow = need("pyarrow", "geo", "GeoParquet")
    table = need("pyarrow.parquet", "geo", "GeoParquet").read_table(pyarrow.BufferReader(content))
    geo = json.loads(table.schema.metadata[b"geo"])["primary_column"]
    typed = {column.name: column for column in columns}
    data = {
        name: _arrow_series(table.column(name), typed[name])
        if name in typed
        else _id_series(table.column(name).to_pylist())
        for name in ids_first(table.column_names, typed)
        if name != geo
    }
    return _geo_frame(data, geometries_of_wkb(table.column(geo).to_numpy(zero_copy_only=False)))


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Parsing creates a million objects and no cycle; searching them for cycles would double its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _geo_frame(data: dict[str, pd.Series], geometry: Any) -> gpd.GeoDataFrame:  # noqa: ANN401
    geopandas = need("geopandas", "geo", "A geodataframe")
    pandas = need("pandas", "geo", "A geodataframe")
    index = pandas.RangeIndex(len(geometry))
    return geopandas.GeoDataFrame(pandas.DataFrame(data, index=index, copy=False), geometry=geometry, crs=CRS)


def _row_names(names: Iterable[str]) -> dict[str, str]:
    """The names that the columns of a spatial dataset have in its csv and json exports.

    There, `longitude` and `latitude` are the coordinates, so that a column of that name gets a suffix.
    """
    own = dict.fromkeys(names)
    used = {name.lower() for name in own}
    reserved = {column.name for column in COORDINATES}
    renamed = {}
    for name in own:
        row_name, number = name, 1
        if name.lower() in reserved:
            while (row_name := f"{name}_{number}").lower() in used:
                number += 1
            used.add(row_name.lower())
        renamed[name] = row_name
    return renamed


def _series(rows: Sequence[dict[str, Any]], columns: Sequence[Column]) -> dict[str, pd.Series]:
    """The columns of the rows. Their own names decide: a new version may have come after the metadata."""
    if not rows:
        return {column.name: series_of([], column) for column in columns}
    typed = {column.name: column for column in columns}
    names = [name for name in ids_first(rows[0], typed) if name in typed or name != "geometry"]
    return {
        name: series_of([row.get(name) for row in rows], typed[name])
        if name in typed
        else _id_series([row.get(name) for row in rows])
        for name in names
    }


def _feature_series(
    features: Sequence[Feature],
    columns: Sequence[Column],
    names: Collection[str] | None,
    known: Column | None,
) -> dict[str, pd.Series]:
    rows = [feature["properties"] for feature in features]
    data = _series(rows, columns)
    shown = [column.name for column in columns]
    ordered = {name: data.pop(name) for name in shown if name in data} | data
    ids = [feature.get("id") for feature in features]
    own = [row.get("id") for row in rows]
    name = id_column(shown if names is None else names, shown, ids, own, known)
    if names is not None and "id" in names and "id" not in shown:
        # Requested only to name the ids.
        ordered.pop("id", None)
    return ordered if name is None else {name: _id_series(ids, known), **ordered}


def _id_series(values: list[Any], known: Column | None = None) -> pd.Series:
    """Ids are all integers or all texts."""
    pandas = need("pandas", "pandas", "A dataframe")
    if not values and known is not None:
        return series_of([], known)
    if values and all(type(value) is int for value in values):
        return series_of(values, Column("id", "integer", False))
    if values and all(isinstance(value, str) for value in values):
        return series_of(values, Column("id", "text", False))
    return pandas.Series(values, dtype=object)


def _arrow_series(values: Any, column: Column) -> pd.Series:  # noqa: ANN401
    pandas = need("pandas", "geo", "A geodataframe")
    pyarrow = need("pyarrow", "geo", "GeoParquet")
    kind = values.type
    nullable = column.nullable or values.null_count > 0
    if column.type == "integer" and pyarrow.types.is_int64(kind):
        return values.to_pandas(types_mapper=lambda _: pandas.Int64Dtype() if nullable else None)
    if column.type == "boolean" and pyarrow.types.is_boolean(kind):
        return values.to_pandas(types_mapper=lambda _: pandas.BooleanDtype() if nullable else None)
    if column.type == "number" and pyarrow.types.is_float64(kind):
        return values.to_pandas()
    if column.type == "text" and pyarrow.types.is_string(kind):
        return values.to_pandas().astype(text_dtype())
    if column.type in ("date", "timestamp") and (
        pyarrow.types.is_date(kind) or pyarrow.types.is_timestamp(kind)
    ):
        naive = values.cast(pyarrow.timestamp("us")).to_pandas()
        return naive.dt.tz_localize("UTC") if pyarrow.types.is_timestamp(kind) else naive
    return series_of(_json_values(values, column), column)


def _json_values(values: Any, column: Column) -> list[Any]:  # noqa: ANN401
    """The values as they are in the GeoJSON."""
    pyarrow = need("pyarrow", "geo", "GeoParquet")
    kind = values.type
    python = values.to_pylist()
    if column.type == "json" or getattr(kind, "extension_name", "") == "arrow.json":
        return [None if value is None else json.loads(value) for value in python]
    if pyarrow.types.is_decimal(kind):
        return [None if value is None else int(value) for value in python]
    if pyarrow.types.is_date(kind):
        return [None if value is None else value.isoformat() for value in python]
    if pyarrow.types.is_timestamp(kind):
        return [None if value is None else value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for value in python]
    return list(python)
