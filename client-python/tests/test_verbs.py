from __future__ import annotations

import dataclasses
import inspect
import json
import zipfile
from pathlib import Path

import anyio
import geopandas as gpd
import pandas as pd
import pytest
import shapely
from conftest import MANY
from pandas.testing import assert_frame_equal
from service import Service

import wayleave

PLACES = ["name", "code", "population", "rank", "huge", "elevation"]
PLACES += ["open", "verified", "founded", "seen", "tags"]


def test_a_dataset_tells_its_columns_and_formats(client: wayleave.Client) -> None:
    places = client.dataset("places")
    assert (places.title, places.rows, places.version, places.credits) == ("Places", 200, 2, 2)
    assert (places.geometry_type, places.geometry_types) == ("Point", ["Point"])
    assert places.time_extent is not None and places.time_extent[0] < places.time_extent[1]
    assert [column.name for column in places.columns] == PLACES
    assert wayleave.Column("rank", "integer", True) in places.columns
    assert {"csv", "geojson", "geoparquet", "shp"} <= {one.format for one in places.formats}
    assert places.updated_at.utcoffset().total_seconds() == 0
    assert {"fruit", "many", "places", "shapes"} <= {one.table for one in client.datasets()}


def test_archives_list_every_version_newest_first(client: wayleave.Client) -> None:
    assert [(one.version, one.current, one.rows) for one in client.archives("places")] == [
        (2, True, 200),
        (1, False, 120),
    ]


def test_columns_arrive_as_their_types(client: wayleave.Client) -> None:
    places = client.read("places")
    text = "str" if int(pd.__version__.split(".")[0]) >= 3 else "object"
    assert {name: str(dtype) for name, dtype in places.dtypes.items()} == {
        "name": text,
        "code": text,
        "population": "int64",
        "rank": "Int64",
        "huge": "object",
        "elevation": "float64",
        "open": "bool",
        "verified": "boolean",
        "founded": "datetime64[us]",
        "seen": "datetime64[us, UTC]",
        "tags": "object",
        "geometry": "geometry",
    }
    assert places.crs == "EPSG:4326"


def test_values_arrive_exactly(client: wayleave.Client, service: Service) -> None:
    source = json.loads((service.folder / "places.geojson").read_text())["features"]
    by_code = {row["properties"]["code"]: row for row in source}
    places = client.read("places")
    assert len(places) == len(source)
    for row in places.itertuples():
        properties = by_code[row.code]["properties"]
        geometry = by_code[row.code]["geometry"]
        for name in ("name", "elevation", "rank", "huge", "verified", "tags"):
            value = getattr(row, name)
            missing = properties[name] is None
            assert (
                (value is None or value is pd.NA or value != value) if missing else value == properties[name]
            )
        for name in ("founded", "seen"):
            given, read = properties[name], getattr(row, name)
            assert read is pd.NaT if given is None else read == pd.Timestamp(given)
        if geometry is None:
            assert row.geometry is None
        else:
            assert [row.geometry.x, row.geometry.y] == geometry["coordinates"]


@pytest.mark.parametrize("table", ["places", "shapes", "many"])
def test_geojson_and_geoparquet_give_one_and_the_same_frame(client: wayleave.Client, table: str) -> None:
    by_geojson = client.read(table, format="geojson")
    by_geoparquet = client.read(table, format="geoparquet")
    assert isinstance(by_geojson, gpd.GeoDataFrame)
    # GeoParquet carries no ids that are only row numbers.
    assert next(iter(by_geojson.columns)) == "id"
    if "id" in by_geoparquet:
        assert by_geojson.pop("id").equals(by_geoparquet.pop("id"))
    else:
        by_geojson.pop("id")
    assert by_geojson.crs == by_geoparquet.crs == "EPSG:4326"
    assert_frame_equal(
        pd.DataFrame(by_geojson).drop(columns="geometry"),
        pd.DataFrame(by_geoparquet).drop(columns="geometry"),
        check_exact=True,
        check_index_type="exact",
    )
    assert list(by_geojson.columns) == list(by_geoparquet.columns)
    assert by_geojson.geometry.to_wkb().equals(by_geoparquet.geometry.to_wkb())


def test_without_pyarrow_read_takes_geojson(client: wayleave.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = client.read("shapes", format="geojson")
    monkeypatch.setattr("wayleave._tables.reading.has", lambda module: module != "pyarrow")
    monkeypatch.setattr("wayleave._tables.reading.frame_of_geoparquet", None)
    assert_frame_equal(pd.DataFrame(client.read("shapes")), pd.DataFrame(whole))


def test_read_table_gives_longitude_and_latitude(client: wayleave.Client) -> None:
    places = client.read("places")
    table = client.read_table("places")
    assert type(table) is pd.DataFrame
    assert list(table.columns) == [*PLACES, "longitude", "latitude"]
    assert_frame_equal(table[PLACES], pd.DataFrame(places[PLACES]))
    assert table.longitude.equals(places.geometry.x.rename("longitude"))
    assert table.latitude.equals(places.geometry.y.rename("latitude"))


def test_for_shapes_longitude_and_latitude_are_a_point_on_the_shape(client: wayleave.Client) -> None:
    shapes = client.read("shapes")
    table = client.read_table("shapes")
    assert list(table.columns) == ["name", "longitude", "latitude"]
    points = shapely.points(table.longitude, table.latitude)
    assert (shapely.distance(shapes.geometry.array, points)[shapes.geometry.notna()] < 1e-9).all()
    assert table.longitude.isna().equals(shapes.geometry.isna().rename("longitude"))


def test_a_table_without_geometry_reads_as_a_plain_frame_only(client: wayleave.Client) -> None:
    fruit = client.read_table("fruit")
    assert list(fruit.columns) == ["fruit", "price"]
    assert fruit.price.isna().tolist() == [False, True]
    with pytest.raises(wayleave.WayleaveError, match="read_table"):
        client.read("fruit")


def test_the_sample_is_typed_like_the_table(client: wayleave.Client) -> None:
    sample = client.sample("places")
    table = client.read_table("places")
    assert len(sample) == 20
    assert list(sample.columns) == list(table.columns)
    assert (sample.dtypes == table.dtypes).sum() >= len(table.columns) - 1
    assert sample.code.isin(table.code).all()


@pytest.mark.parametrize("format", ["csv", "json", "geojson", "kml", "shp", "geoparquet", "gpkg", "fgb"])
def test_download_saves_every_format(client: wayleave.Client, folder: Path, format: str) -> None:
    path = client.download("places", format)
    assert path == Path(
        {"shp": "places.shp.zip", "geoparquet": "places.parquet"}.get(format, f"places.{format}")
    )
    assert list(folder.iterdir()) == [folder / path]
    if format == "csv":
        assert len(pd.read_csv(path)) == 200
    elif format == "json":
        assert len(json.loads(path.read_text())) == 200
    elif format == "geojson":
        assert len(json.loads(path.read_text())["features"]) == 200
    elif format == "shp":
        assert "places.shp" in zipfile.ZipFile(path).namelist()
    else:
        frame = gpd.read_parquet(path) if format == "geoparquet" else gpd.read_file(path)
        assert len(frame) == 200


def test_download_goes_to_a_path_or_into_a_folder(client: wayleave.Client, folder: Path) -> None:
    (folder / "files").mkdir()
    (folder / "x.csv").write_text("what stood here before")
    assert client.download("fruit", "csv", folder / "x.csv") == folder / "x.csv"
    assert client.download("fruit", "csv", str(folder / "files")) == folder / "files" / "fruit.csv"
    assert (folder / "x.csv").read_bytes() == (folder / "files/fruit.csv").read_bytes()


def test_an_older_version_can_be_read_and_downloaded(client: wayleave.Client, folder: Path) -> None:
    assert len(client.read("places", version=1)) == 120
    assert len(client.read("places", version=1, format="geojson")) == 120
    assert len(client.read_table("places", version=1)) == 120
    assert len(pd.read_csv(client.download("places", "csv", version=1))) == 120
    with pytest.raises(wayleave.NotFoundError):
        client.read("places", version=9)


def test_progress_goes_to_a_callback_and_ends_with_all(client: wayleave.Client, folder: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    path = client.download("many", "geoparquet", progress=lambda *now: seen.append(now))
    size = path.stat().st_size
    assert seen[0] == (0, size)
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)


def test_progress_shows_a_bar(
    client: wayleave.Client, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    client.download("places", "csv", progress=True)
    assert "places.csv" in capsys.readouterr().err


def test_many_features_arrive_by_paging_each_once(client: wayleave.Client) -> None:
    pages = list(client.items("many", limit=10_000))
    assert [len(page) for page in pages] == [10_000] * (MANY // 10_000)
    assert pages[0].number_matched == MANY
    assert next(iter(client.items("many", limit=1, count="exact"))).number_matched == MANY
    assert next(iter(client.items("many", limit=1, count="none"))).number_matched is None
    assert sorted(feature["id"] for page in pages for feature in page) == list(range(1, MANY + 1))


def test_items_select_by_bbox_filter_and_columns(client: wayleave.Client) -> None:
    everything = client.read("many")
    inside = everything.cx[0:20, 30:40]
    found = list(client.items("many", bbox=(0, 30, 20, 40), limit=100).features())
    assert sorted(one["properties"]["number"] for one in found) == sorted(inside.number)
    page = next(client.items("many", filter="number < 50", sortby="-number", columns=["number"], limit=10))
    assert [one["properties"] for one in page] == [{"number": number} for number in range(49, 39, -1)]
    query = {"op": "=", "args": [{"property": "name"}, "place 77"]}
    assert [one["id"] for one in client.items("many", filter=query).features()] == [77]


def test_items_read_as_a_frame_typed_like_the_whole(client: wayleave.Client) -> None:
    whole = client.read("places")
    part = client.items("places", bbox=whole.total_bounds, limit=17).read()
    assert (part.drop(columns="id").dtypes == whole.drop(columns="id", errors="ignore").dtypes).all()
    assert part.crs == whole.crs
    # Features without a geometry match every box.
    assert whole.geometry.isna().any()
    assert len(part) == len(whole)
    nothing = client.items("places", filter="population < 0").read()
    assert len(nothing) == 0
    assert list(nothing.columns) == list(part.columns)


def test_the_async_client_has_the_same_verbs_with_the_same_arguments() -> None:
    def verbs(kind: type) -> dict[str, list[inspect.Parameter]]:
        public = {name: member for name, member in inspect.getmembers(kind) if not name.startswith("_")}
        return {
            name: list(inspect.signature(member).parameters.values()) if callable(member) else []
            for name, member in public.items()
        }

    assert verbs(wayleave.AsyncClient) == verbs(wayleave.Client)
    assert verbs(wayleave.AsyncItemPages) == verbs(wayleave.ItemPages)
    assert verbs(wayleave.AsyncDataset) == verbs(wayleave.Dataset)
    fields = {field.name for field in dataclasses.fields(wayleave.Dataset)}
    assert set(verbs(wayleave.Dataset)) - fields <= set(verbs(wayleave.Client))


def test_the_async_client_gives_the_same_results(
    client: wayleave.Client, service: Service, key: str, folder: Path
) -> None:
    async def everything() -> None:
        async with wayleave.AsyncClient(key, service.url) as other:
            assert [one.table for one in await other.datasets()] == [one.table for one in client.datasets()]
            places = await other.dataset("places")
            assert dataclasses.asdict(places) == dataclasses.asdict(client.dataset("places"))
            assert_frame_equal(await places.sample(), client["places"].sample())
            assert [len(page) async for page in places.items(limit=150)] == [150, 50]
            assert await other.archives("places") == client.archives("places")
            assert_frame_equal(await other.sample("places"), client.sample("places"))
            assert_frame_equal(pd.DataFrame(await other.read("places")), pd.DataFrame(client.read("places")))
            assert_frame_equal(await other.read_table("places"), client.read_table("places"))
            path = await other.download("places", "csv", "async.csv")
            assert path.read_bytes() == client.download("places", "csv").read_bytes()
            pages = [page async for page in other.items("places", limit=90)]
            assert pages == list(client.items("places", limit=90))
            features = [one async for one in other.items("places", limit=90).features()]
            assert features == [one for page in pages for one in page]
            assert len(await other.items("shapes").read()) == 8
            assert len(await other.read("places", filter="population < 3000")) == 3
            assert (await other.read_arrow("places")).equals(client.read_arrow("places"))
            assert (await other.read_polars("fruit")).equals(client.read_polars("fruit"))
            assert (await other.read_duckdb("fruit")).fetchall() == client.read_duckdb("fruit").fetchall()

    anyio.run(everything)
