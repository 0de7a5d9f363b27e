"""`read` and its kin with a selection: right, free of charge, in few requests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import geopandas as gpd
import pandas as pd
import pytest
import shapely
from conftest import MANY
from pandas.testing import assert_frame_equal
from proxy import Proxy

import wayleave


@pytest.fixture
def watched(proxy: Proxy, key: str) -> Iterator[wayleave.Client]:
    """A client whose requests the proxy records."""
    with wayleave.Client(key, proxy.url) as client:
        yield client


def pages(proxy: Proxy) -> list[str]:
    lines = proxy.received.decode("latin-1").split("\r\n")
    return [line.split(" ")[1] for line in lines if line.startswith("GET ") and "/items?" in line]


def test_without_a_selection_the_whole_file_is_read(watched: wayleave.Client, proxy: Proxy) -> None:
    assert len(watched.read("many")) == MANY
    assert pages(proxy) == []
    assert proxy.received.count(b"/files/geoparquet") == 1


def extracts(proxy: Proxy) -> list[str]:
    lines = proxy.received.decode("latin-1").split("\r\n")
    return [line.split(" ")[0] for line in lines if "/extract?" in line]


def test_many_selected_rows_are_read_as_one_file(watched: wayleave.Client, proxy: Proxy) -> None:
    frame = watched.read("many", bbox=WORLD)
    assert (len(pages(proxy)), extracts(proxy)) == (1, ["HEAD", "GET"])
    assert b"/files/" not in proxy.received
    assert_frame_equal(pd.DataFrame(frame), pd.DataFrame(watched.items("many", bbox=WORLD).read()))
    assert frame.attrs["credits_charged"] == 0
    arrow = watched.read_arrow("many", filter="number > 5000")
    few = watched.read_arrow("many", filter="number > 25000")
    assert arrow.schema.equals(few.schema)
    assert arrow.slice(0, 3).column_names == ["id", "number", "name", "geometry"]
    assert len(extracts(proxy)) == 4


def test_few_rows_and_parts_of_rows_are_read_by_pages(watched: wayleave.Client, proxy: Proxy) -> None:
    assert len(watched.read("many", filter="number <= 20000")) == 20_000
    assert extracts(proxy) == ["HEAD"]
    watched.read("many", filter="number <= 100")
    watched.read("many", bbox=WORLD, columns=["name"])
    watched.read("many", bbox=WORLD, sortby="number")
    assert extracts(proxy) == ["HEAD"]


@pytest.mark.parametrize(
    "read", [lambda c: c.read("many", bbox=WORLD, columns=["name"]), lambda c: c.items("many").read()]
)
def test_a_selection_is_read_by_pages_of_10000(watched: wayleave.Client, proxy: Proxy, read) -> None:
    assert len(read(watched)) == MANY
    assert len(pages(proxy)) == MANY // 10_000
    assert b"/files/" not in proxy.received


WORLD = (-180, -90, 180, 90)


def test_iterating_takes_pages_of_1000_and_reading_the_rest_takes_large_ones(
    watched: wayleave.Client, proxy: Proxy
) -> None:
    items = watched.items("many")
    first = next(items)
    assert len(first) == 1000
    rest = items.read()
    assert len(rest) == MANY - 1000
    assert sorted([*(one["id"] for one in first), *rest.id]) == list(range(1, MANY + 1))
    assert len(pages(proxy)) == 1 + MANY // 10_000
    assert list(items) == []


def test_bbox_selects_what_lies_in_the_box(client: wayleave.Client) -> None:
    whole = client.read("many", format="geojson")
    inside = whole.cx[0:20, 30:40]
    box = client.read("many", bbox=(0, 30, 20, 40))
    assert 40 < len(inside) < MANY
    assert_frame_equal(pd.DataFrame(box), pd.DataFrame(inside.reset_index(drop=True)))
    assert box.crs == whole.crs
    across = client.read("many", bbox=(170, -90, -170, 90))
    assert len(across) == len(whole.cx[170:180, :]) + len(whole.cx[-180:-170, :])


def test_filter_columns_sortby_and_limit(
    client: wayleave.Client, watched: wayleave.Client, proxy: Proxy
) -> None:
    top = watched.read("many", filter="number <= 15000", sortby="-number", columns=["name"], limit=12_345)
    assert list(top.columns) == ["id", "name", "geometry"]
    assert list(top.id) == list(range(15_000, 15_000 - 12_345, -1))
    assert [page.split("limit=")[1].split("&")[0] for page in pages(proxy)] == ["10000", "2345"]
    ordered = client.read("many", columns=["name", "number", "id", "geometry"], limit=3)
    assert list(ordered.columns) == ["id", "name", "number", "geometry"]
    assert list(client.read("many", columns=[], limit=3).columns) == ["id", "geometry"]
    assert list(client.read("many", columns="name", limit=3).columns) == ["id", "name", "geometry"]
    found = client.read("many", filter={"op": "=", "args": [{"property": "name"}, "place 77"]})
    assert list(found.number) == [77]


def test_datetime_selects_by_time(client: wayleave.Client) -> None:
    whole = client.read("places")
    part = client.read("places", datetime="1100-01-01/1150-12-31")
    years = whole.founded.dt.year
    assert len(part) == ((years.between(1100, 1150)) | years.isna()).sum()


def test_a_part_has_the_types_of_the_whole(client: wayleave.Client) -> None:
    whole = client.read("places", format="geojson")
    part = client.read("places", limit=MANY)
    assert_frame_equal(pd.DataFrame(part), pd.DataFrame(whole))
    empty = client.read("places", filter="population < 0")
    assert len(empty) == 0
    assert list(empty.columns) == list(whole.columns)
    # Ids and integers beyond 64 bits have a type that depends on their values.
    typed = [name for name in whole.columns if name not in ("id", "huge")]
    assert (empty[typed].dtypes == whole[typed].dtypes).all()


@pytest.mark.parametrize("crs", [3857, "EPSG:3857"])
def test_crs_transforms_the_result_and_selects_nothing(
    client: wayleave.Client, watched: wayleave.Client, proxy: Proxy, crs: object
) -> None:
    moved = watched.read("shapes", crs=crs)
    assert moved.crs == "EPSG:3857"
    assert moved.geometry.geom_equals_exact(client.read("shapes").to_crs(3857).geometry, 1e-9).sum() == 7
    assert pages(proxy) == []
    assert watched.read("shapes", crs=crs, limit=2).crs == "EPSG:3857"
    before = len(proxy.received)
    with pytest.raises(Exception, match="nonsense"):
        watched.read("shapes", crs="nonsense")
    assert len(proxy.received) == before


def test_read_table_selects_too(client: wayleave.Client) -> None:
    whole = client.read_table("places")
    part = client.read_table("places", filter="population < 10000", sortby="population")
    assert list(part.columns) == ["id", *whole.columns.drop("id", errors="ignore")]
    same = whole[whole.population < 10_000].sort_values("population").reset_index(drop=True)
    assert_frame_equal(part.drop(columns="id"), same.drop(columns="id", errors="ignore"))
    assert list(client.read_table("fruit", filter="price > 1").fruit) == ["apple"]
    assert list(client.read_table("fruit", limit=1).columns) == ["id", "fruit", "price"]


def test_names_with_commas_and_brackets_select_and_sort(client: wayleave.Client) -> None:
    for names in (["size, in m²"], ["[a]"], ["[a]", "b"], ["c d", "size, in m²"]):
        part = client.read("awkward", columns=names)
        assert list(part.columns) == ["id", *names, "geometry"]
        assert sorted(part["id"]) == list(range(9))
        features = client.items("awkward", columns=names).features()
        assert {tuple(sorted(one["properties"])) for one in features} == {tuple(sorted(names))}
    by_size = client.read("awkward", sortby=["c d", "-size, in m²"])["size, in m²"]
    assert by_size.tolist() == [8, 6, 4, 2, 0, 7, 5, 3, 1]
    assert client.read("awkward", sortby=["-[a]"], limit=1)["[a]"].tolist() == ["t8"]


def test_a_text_names_columns_separated_by_commas(client: wayleave.Client) -> None:
    part = client.read("places", columns="population,seen", sortby="-open,population", limit=2)
    assert list(part.columns) == ["id", "population", "seen", "geometry"]
    assert part.dtypes.population == "int64"
    assert str(part.dtypes.seen) == "datetime64[us, UTC]"
    assert part.population.tolist() == [0, 2000]


def test_names_that_every_result_has_may_be_selected(client: wayleave.Client) -> None:
    assert list(client.read("numbered", columns=["feature_id", "size"]).columns) == [
        "feature_id",
        "size",
        "geometry",
    ]
    table = client.read_table("many", columns=["number", "longitude", "latitude"], limit=2)
    assert list(table.columns) == ["id", "number", "longitude", "latitude"]
    assert list(client.items("many", columns=["id", "number", "geometry"]).read().columns) == [
        "id",
        "number",
        "geometry",
    ]
    with pytest.raises(wayleave.BadRequestError, match="longitude"):
        client.read("many", columns=["longitude"])


def test_columns_named_like_the_coordinates_are_renamed_in_every_selection(client: wayleave.Client) -> None:
    """As in the csv and json exports."""
    whole = client.read_table("surveyed")
    assert list(whole.columns) == [
        "id",
        "Latitude_1",
        "longitude_1",
        "longitude_2",
        "size",
        "longitude",
        "latitude",
    ]
    assert sorted(whole.longitude_2) == ["E0", "E1", "E2", "E3", "E4"]
    assert_frame_equal(client.read_table("surveyed", limit=9), whole)
    assert_frame_equal(client.read_table("surveyed", limit=3), whole.head(3))
    part = client.read_table("surveyed", columns=["longitude", "size"], limit=9)
    assert_frame_equal(part, whole[["id", "longitude_2", "size", "longitude", "latitude"]])
    empty = client.read_table("surveyed", filter="size > 100")
    assert_frame_equal(empty, whole.head(0))
    assert list(client.sample("surveyed").columns) == list(whole.columns)


def test_a_dataset_is_named_by_a_text(client: wayleave.Client) -> None:
    with pytest.raises(TypeError, match=r"named by a text, not by Dataset\. Pass its attribute table\."):
        client.read(client["many"])
    with pytest.raises(TypeError, match="not by NoneType"):
        client.items(None).read()


def test_a_table_without_geometry_is_not_read_as_a_geodataframe(client: wayleave.Client) -> None:
    """The empty geometries would replace a column of that name."""
    for read in (lambda: client.read("described", limit=1), lambda: client.items("described").read()):
        with pytest.raises(wayleave.WayleaveError, match="has no geometry: use read_table"):
            read()
    assert client.read_table("described", limit=9).geometry.tolist() == ["four sides", "round"]
    assert client.read_table("described").geometry.tolist() == ["four sides", "round"]


def test_points_on_shapes_of_a_selection_lie_on_them(client: wayleave.Client) -> None:
    shapes = client.items("shapes").read()
    table = client.read_table("shapes", limit=100)
    points = shapely.points(table.longitude, table.latitude)
    assert (shapely.distance(shapes.geometry.array, points)[shapes.geometry.notna()] < 1e-9).all()
    assert table.longitude.isna().sum() == 1


@pytest.mark.parametrize(
    ("bbox", "message"),
    [
        ((5, 55, 11, 47), "southern edge"),
        ((5, 100, 11, 147), "latitude lies beyond 90"),
        ((1, 2, 3), "four numbers"),
        ((1, 2, 3, float("nan")), "four numbers"),
        ("1,2,3,4", "a text"),
        (("a", "b", "c", "d"), "west, south, east, north"),
        (7, "west, south, east, north"),
    ],
)
def test_a_bbox_that_cannot_be_right_is_refused_at_once(bbox: object, message: str) -> None:
    with wayleave.Client("k", "http://127.0.0.1:9") as client:
        for call in (client.read, client.read_table, client.read_arrow, client.items):
            with pytest.raises(ValueError, match=message):
                call("many", bbox=bbox)


def test_a_box_beside_the_data_warns_with_the_callers_line(client: wayleave.Client) -> None:
    with pytest.warns(wayleave.WayleaveWarning, match="swap longitude and latitude") as caught:
        assert len(client["holland"].read(bbox=(51, 4, 52, 5))) == 0
    assert caught[-1].filename == __file__
    with pytest.warns(wayleave.WayleaveWarning, match=r"the dataset's extent is \(0, 0, 29, 29\)"):
        client.read("named", bbox=(100, 40, 110, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        client.read("named", bbox=(0.2, 0.2, 0.3, 0.3))


def test_versions_and_formats_exist_of_whole_files_only(client: wayleave.Client) -> None:
    for argument in ({"version": 1}, {"format": "geojson"}):
        with pytest.raises(ValueError, match="cannot be combined"):
            client.read("places", bbox=WORLD, **argument)


def test_progress_of_pages_counts_bytes(client: wayleave.Client) -> None:
    seen: list[tuple[int, int | None]] = []
    client.read("many", limit=15_000, progress=lambda *now: seen.append(now))
    assert len(seen) == 2
    assert 0 < seen[0][0] < seen[1][0]
    assert seen[1][1] is None


def test_datasets_have_the_methods_of_the_client(client: wayleave.Client) -> None:
    many = client["many"]
    assert isinstance(many, wayleave.Dataset)
    assert isinstance(many.read(limit=5), gpd.GeoDataFrame)
    assert len(many.read(bbox=WORLD, limit=7)) == 7
    assert len(many.read_table(limit=4)) == 4
    assert len(many.read_arrow(limit=3)) == 3
    assert len(many.read_polars(limit=2)) == 2
    assert len(many.read_duckdb(limit=2).fetchall()) == 2
    assert len(many.sample()) == 100
    assert len(next(many.items(limit=6))) == 6
    assert [one.version for one in many.archives()] == [1]
    assert [one.read(limit=1).attrs["table"] for one in client.datasets() if one.table == "many"] == ["many"]
