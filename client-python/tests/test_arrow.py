"""Arrow, Polars and DuckDB, each in one call."""

from __future__ import annotations

import io
import json

import duckdb
import geopandas as gpd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import MANY

import wayleave


def test_arrow_has_the_columns_in_their_types(client: wayleave.Client) -> None:
    table = client.read_arrow("places")
    types = {field.name: str(field.type) for field in table.schema if field.name != "id"}
    assert types.pop("huge").startswith("decimal128(")
    assert types == {
        "name": "string",
        "code": "string",
        "population": "int64",
        "rank": "int64",
        "elevation": "double",
        "open": "bool",
        "verified": "bool",
        "founded": "date32[day]",
        "seen": "timestamp[us, tz=UTC]",
        "tags": "string",
        "geometry": "binary",
    }


@pytest.mark.parametrize("table", ["places", "shapes", "many", "fruit"])
def test_a_selection_has_the_values_of_the_whole(client: wayleave.Client, table: str) -> None:
    whole = client.read_arrow(table)
    part = client.read_arrow(table, limit=1_000_000)
    assert part.column_names == ["id", *(name for name in whole.column_names if name != "id")]
    for name in whole.column_names:
        if name == "tags":
            assert [one and json.loads(one) for one in part[name].to_pylist()] == [
                one and json.loads(one) for one in whole[name].to_pylist()
            ]
        else:
            assert part[name].to_pylist() == whole[name].to_pylist()
            assert part.schema.field(name).type == whole.schema.field(name).type or name == "huge"
            assert part.schema.field(name).metadata == whole.schema.field(name).metadata


def test_arrow_geometries_are_known_to_geopandas_and_saved_as_geoparquet(client: wayleave.Client) -> None:
    frame = client.read("shapes")
    for table in (client.read_arrow("shapes"), client.read_arrow("shapes", limit=100)):
        by_arrow = gpd.GeoDataFrame.from_arrow(table)
        assert by_arrow.geometry.to_wkb().equals(frame.geometry.to_wkb())
        assert by_arrow.crs == "OGC:CRS84"
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        saved = gpd.read_parquet(buffer)
        assert saved.geometry.to_wkb().equals(frame.geometry.to_wkb())
        origin = json.loads(table.schema.metadata[b"wayleave"])
        assert (origin["table"], origin["version"]) == ("shapes", 1)


def test_an_empty_selection_keeps_its_types(client: wayleave.Client) -> None:
    empty = client.read_arrow("places", filter="population < 0")
    assert len(empty) == 0
    assert str(empty.schema.field("seen").type) == "timestamp[us, tz=UTC]"
    assert client.read_polars("places", filter="population < 0").shape[0] == 0


def test_polars_has_the_rows(client: wayleave.Client) -> None:
    places = client.read_polars("places")
    assert isinstance(places, pl.DataFrame)
    assert places.height == 200
    assert places.schema["seen"] == pl.Datetime("us", "UTC")
    assert places.schema["geometry"] == pl.Binary
    assert client.read_polars("many", columns=["number"], limit=5).columns == ["id", "number", "geometry"]
    assert client.read_polars("fruit")["fruit"].to_list() == ["apple", "pear"]


def test_duckdb_has_the_rows_with_geometries(client: wayleave.Client) -> None:
    assert client.read_duckdb("many").aggregate("count(*), max(number)").fetchall() == [(MANY, MANY)]
    shapes = client.read_duckdb("shapes")
    assert "GEOMETRY" in str(dict(zip(shapes.columns, shapes.types, strict=True))["geometry"])
    texts = shapes.project("ST_AsText(geometry)").fetchall()
    assert ("POINT Z (9 9 120.5)",) in texts
    seen = client.read_duckdb("places").project("seen").filter("seen IS NOT NULL").fetchall()
    assert seen and all(value.utcoffset() is not None for (value,) in seen)
    with duckdb.connect() as connection:
        named = client.read_duckdb("named", connection=connection, filter="size >= 20")
        connection.register("named", named)
        assert connection.sql("SELECT count(*), min(id) FROM named").fetchall() == [(10, "x20")]


def test_integers_beyond_38_digits_are_text() -> None:
    from wayleave._models import Column
    from wayleave._tables.arrow import arrow_of_features

    features = [{"id": i, "properties": {"n": 10**i}, "geometry": None} for i in (1, 18, 45)]
    columns = [Column("n", "integer", False)]
    types = [
        arrow_of_features(features[:i], columns, ["n"], False, "arrow").schema.field("n").type for i in (2, 3)
    ]
    assert types == [pa.int64(), pa.string()]
    assert arrow_of_features(features, columns, ["n"], False, "arrow")["n"].to_pylist()[2] == str(10**45)
