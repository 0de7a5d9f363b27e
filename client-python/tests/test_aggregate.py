"""`aggregate`: typed dataframes of groups."""

from __future__ import annotations

import geopandas as gpd
import pandas as pd
import pytest
from conftest import MANY

import wayleave


def test_groups_are_a_dataframe_with_the_types_of_the_service(client: wayleave.Client) -> None:
    frame = client.aggregate(
        "places",
        ["open", "month(seen)"],
        ["count", "sum(rank)", "mean(elevation)", "percentile(elevation,90)"],
    )
    table = client.read_table("places")
    assert list(frame.columns) == [
        "open",
        "month(seen)",
        "count",
        "sum(rank)",
        "mean(elevation)",
        "percentile(elevation,90)",
    ]
    assert frame["count"].sum() == len(table)
    assert str(frame["month(seen)"].dtype).startswith("datetime64")
    for opened in (True, False):
        rows = table[table["open"] == opened]
        own = frame[frame["open"] == opened]
        assert own["count"].sum() == len(rows)
        # Sums beyond 2^53 are exact.
        assert sum(int(one) for one in own["sum(rank)"].dropna()) == sum(
            int(one) for one in rows["rank"].dropna()
        )


def test_without_groups_there_is_one_row_and_filters_select(client: wayleave.Client) -> None:
    frame = client["places"].aggregate(measures="count,max(population)", filter="population < 10000")
    assert frame.to_dict("records") == [{"count": 10, "max(population)": 9000}]
    few = client.aggregate("places", "code", sortby="-count,code", having="count = 1", limit=3, others=True)
    assert list(few["code"]) == ["00000", "00001", "00002"]
    assert few.attrs["number_groups"] == 200
    assert few.attrs["others"] == {"code": None, "count": 197}


def test_all_groups_are_read_page_by_page(client: wayleave.Client) -> None:
    frame = client.aggregate("many", "number")
    assert len(frame) == MANY
    assert frame["number"].is_unique
    assert len(client.aggregate("many", "number", limit=10_500)) == 10_500


def test_cells_and_areas_are_a_geodataframe(client: wayleave.Client) -> None:
    cells = client.aggregate("many", "tile(3)", "count", geometry=True)
    assert isinstance(cells, gpd.GeoDataFrame)
    assert cells["count"].sum() == MANY
    assert cells.crs == "EPSG:4326"
    located = cells[cells["tile(3)"].notna()]
    assert set(located.geom_type) == {"Polygon"}
    plain = client.aggregate("many", "tile(3)", "count")
    assert not isinstance(plain, gpd.GeoDataFrame)
    pd.testing.assert_frame_equal(plain, pd.DataFrame(cells.drop(columns="geometry")))


def test_units_are_attributes_and_errors_name_the_column(client: wayleave.Client) -> None:
    assert client.aggregate("shapes", measures=["area", "length"]).attrs["units"] == {
        "area": "m²",
        "length": "m",
    }
    with pytest.raises(wayleave.BadRequestError, match="population"):
        client.aggregate("places", "populaton")
    with pytest.raises(TypeError, match="sortby"):
        client.aggregate("places", "code", sort_by="count")


async def ask(service_url: str, key: str) -> pd.DataFrame:
    async with wayleave.AsyncClient(key, service_url) as client:
        return await client.aggregate("places", "open")


def test_the_async_client_has_it_too(client: wayleave.Client, service, key: str) -> None:
    import asyncio

    frame = asyncio.run(ask(service.url, key))
    pd.testing.assert_frame_equal(frame, client.aggregate("places", "open"))
