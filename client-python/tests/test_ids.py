"""The features' ids are a column of every result that carries them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import data
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

import wayleave
from wayleave._models import Column
from wayleave._tables.arrow import arrow_of_geoparquet
from wayleave._tables.frames import frame_of_features, frame_of_geoparquet, frame_of_rows

SIZE = [Column("size", "integer", False)]
OWN = [Column("id", "integer", False), *SIZE]


@pytest.mark.parametrize(
    "read",
    [
        lambda client, table: client.read(table, format="geojson"),
        lambda client, table: client.read(table, limit=1000),
        lambda client, table: client.read_table(table, limit=1000),
        lambda client, table: client.items(table).read(),
        lambda client, table: client.read_arrow(table, limit=1000).to_pandas(),
        lambda client, table: client.read_polars(table, limit=1000).to_pandas(),
        lambda client, table: client.read_duckdb(table, limit=1000).project("* EXCLUDE geometry").df(),
    ],
)
def test_ids_come_first_under_a_name_that_is_free(client: wayleave.Client, read) -> None:
    named = read(client, "named")
    assert next(iter(named.columns)) == "id"
    assert sorted(named.id) == sorted(named.code) == sorted(f"x{i}" for i in range(30))
    numbered = read(client, "numbered")
    assert list(numbered.columns[:3]) == ["feature_id", "id", "size"]
    assert (numbered.feature_id == numbered["size"] + 100).all()
    assert (numbered.id == numbered["size"] % 3).all()
    assert str(numbered.feature_id.dtype) == "int64"


@pytest.mark.parametrize(
    "read",
    [
        lambda client, table, columns: client.read(table, columns=columns),
        lambda client, table, columns: client.read_table(table, columns=columns),
        lambda client, table, columns: client.items(table, columns=columns).read(),
        lambda client, table, columns: client.read_arrow(table, columns=columns).to_pandas(),
    ],
)
def test_a_selection_of_columns_does_not_rename_the_ids(client: wayleave.Client, read) -> None:
    """A column `id` that holds the features' ids must not pass for the dataset's own."""
    whole = read(client, "numbered", ["size", "id"])
    part = read(client, "numbered", ["size"])
    assert list(whole.columns[:3]) == ["feature_id", "size", "id"]
    assert list(part.columns[:2]) == ["feature_id", "size"]
    assert "id" not in part
    assert (part.feature_id == part["size"] + 100).all()
    assert list(read(client, "numbered", []).columns[:1]) == ["feature_id"]
    assert list(read(client, "named", ["size"]).columns[:2]) == ["id", "size"]


def test_ids_that_are_the_column_id_keep_its_name(client: wayleave.Client, folder: Path) -> None:
    rows = [data.feature(i, {"id": i, "size": i}, data.point(i, i)) for i in range(5)]
    client.publish("same_ids", data.write(folder / "same.geojson", rows))
    assert list(client.read("same_ids", columns=["size"]).columns) == ["id", "size", "geometry"]
    assert list(client.read("same_ids", columns=["size", "id"]).columns) == ["size", "id", "geometry"]
    assert client.read_arrow("same_ids", columns=["size"]).column_names == ["id", "size", "geometry"]


def test_ids_have_the_same_name_and_type_in_every_selection(client: wayleave.Client, folder: Path) -> None:
    """In some rows the column `id` has the features' ids, in others it has not."""
    rows = [data.feature(i, {"id": i if i <= 5 else -i, "k": i}, data.point(i, i)) for i in range(1, 11)]
    client.publish("mixed_ids", data.write(folder / "mixed.geojson", rows))
    for filter in ("k <= 5", "k > 5", "k > 100"):
        frame = client.read("mixed_ids", filter=filter)
        assert list(frame.columns) == ["feature_id", "id", "k", "geometry"]
        assert str(frame.feature_id.dtype) == "int64"
        table = client.read_arrow("mixed_ids", filter=filter)
        assert table.column_names == ["feature_id", "id", "k", "geometry"]
        assert table.schema.field("feature_id").type == pa.int64()
    nothing = client.read("named", filter="size > 1000")
    assert next(iter(nothing.columns)) == "id"
    assert nothing.id.dtype == client.read("named", limit=1).id.dtype
    assert client.read_arrow("named", filter="size > 1000").schema.field("id").type == pa.string()


def test_whole_files_with_and_without_ids_are_read(client: wayleave.Client) -> None:
    """A GeoParquet or json file may or may not carry the ids; both are read."""
    for read in (client.read, client.read_table):
        frame = read("named")
        if "id" in frame:
            assert list(frame.id) == list(frame.code)
            assert next(iter(frame.columns)) == "id"
        numbered = read("numbered")
        assert (numbered.id == numbered["size"] % 3).all()


def geoparquet(columns: dict[str, list]) -> bytes:
    buffer = io.BytesIO()
    points = shapely.to_wkb(shapely.points([[0, 1], [2, 3]]))
    geo = {"version": "1.0.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    table = pa.table({**columns, "geometry": list(points)})
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("ids", [[7, 9], ["a", "b"]])
def test_an_id_column_that_the_service_adds_to_its_exports_comes_first(ids: list) -> None:
    content = geoparquet({"size": [1, 2], "id": ids})
    frame = frame_of_geoparquet(content, SIZE)
    assert list(frame.columns) == ["id", "size", "geometry"]
    assert list(frame.id) == ids
    features = [
        {
            "id": one,
            "properties": {"size": i + 1},
            "geometry": {"type": "Point", "coordinates": [i * 2, i * 2 + 1]},
        }
        for i, one in enumerate(ids)
    ]
    assert frame.equals(frame_of_features(features, SIZE))
    assert arrow_of_geoparquet(content, SIZE, "arrow").column_names == ["id", "size", "geometry"]
    rows = frame_of_rows([{"size": 1, "id": ids[0]}, {"size": 2, "id": ids[1]}], SIZE, False)
    pd.testing.assert_frame_equal(rows, pd.DataFrame(frame[["id", "size"]]))


def test_a_dataset_with_a_column_id_of_its_own_keeps_it() -> None:
    content = geoparquet({"id": [1, 1], "size": [1, 2], "feature_id": ["a", "b"]})
    assert list(frame_of_geoparquet(content, OWN).columns) == ["feature_id", "id", "size", "geometry"]
    same = [{"id": i, "properties": {"id": i, "size": 0}, "geometry": None} for i in range(3)]
    assert list(frame_of_features(same, OWN).columns) == ["id", "size", "geometry"]
    taken = [Column("id", "integer", False), Column("feature_id", "integer", False)]
    other = [{"id": "x", "properties": {"id": 1, "feature_id": 2}, "geometry": None}]
    assert list(frame_of_features(other, taken).columns) == ["feature_id_1", "id", "feature_id", "geometry"]
