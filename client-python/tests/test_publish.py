"""Publishing with a platform key."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import data
import geopandas as gpd
import httpx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import shapely
from proxy import Proxy
from service import Account, Service

import wayleave
from wayleave._options import PublishOptions
from wayleave._publishing import PARAMETERS


def test_a_file_is_uploaded_and_published(client: wayleave.Client, folder: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    file = data.many(folder / "uploaded.geojson", 5000)
    job = client.publish(
        "uploaded",
        file,
        title="Uploaded & <new>",
        description="What was uploaded.",
        license="CC0",
        attribution="The Office",
        keywords=["one", "two"],
        credits=3,
        id_column="number",
        sample=False,
        progress=lambda *now: seen.append(now),
    )
    assert (job.table, job.state, job.problem) == ("uploaded", "done", None)
    assert job.report["rows"] == 5000
    size = file.stat().st_size
    assert seen[-1] == (size, size)
    assert seen == sorted(seen)
    assert len(seen) > 2
    dataset = client["uploaded"]
    assert (dataset.title, dataset.license, dataset.credits) == ("Uploaded & <new>", "CC0", 3)
    assert (dataset.keywords, dataset.attribution) == (["one", "two"], "The Office")
    with pytest.raises(wayleave.NotFoundError):
        dataset.sample()
    assert sorted(dataset.read(limit=9000).id) == list(range(1, 5001))
    again = client.publish("uploaded", str(data.many(file, 70)), wait=False)
    assert again.state in ("waiting", "running", "done")
    while client.job(again.id).state != "done":
        pass
    assert client["uploaded"].version == 2
    assert client["uploaded"].title == "Uploaded & <new>"


def test_a_publishing_is_cancelled(client: wayleave.Client, folder: Path) -> None:
    file = folder / "endless.gpkg"
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table gpkg_contents (table_name text, data_type text)")
        database.execute("insert into gpkg_contents values ('layer', 'attributes')")
        numbers = "with recursive n(i) as (select 1 union all select i + 1 from n)"
        database.execute(f"create view layer as {numbers} select i from n where i < 0")
        database.commit()
    job = client.publish("endless", file, wait=False)
    cancelled = client.cancel_job(job.id)
    assert (cancelled.id, cancelled.state, client.job(job.id).state) == (job.id, "cancelled", "cancelled")
    with pytest.raises(wayleave.NotFoundError):
        client.cancel_job("job_unknown")


def test_a_frame_is_published_with_its_crs_and_types(client: wayleave.Client) -> None:
    points = shapely.points([[1113194.9, 6446275.8], [0, 0]])
    frame = gpd.GeoDataFrame({"name": ["a", "b"], "n": [1, None]}, geometry=points, crs=3857)
    assert client.publish("framed", frame).state == "done"
    read = client.read("framed").sort_values("name")
    assert abs(read.geometry.iloc[0].x - 10) < 1e-6
    assert abs(read.geometry.iloc[0].y - 50) < 1e-6
    assert client.publish("plain", pd.DataFrame({"a": [1, 2]})).report["rows"] == 2
    assert list(client.read_table("plain").a) == [1, 2]


def test_a_frame_that_was_read_is_published_with_the_same_values(client: wayleave.Client) -> None:
    places = client.read("places")
    client.publish("places_again", places.drop(columns="id", errors="ignore"))
    again = client.read("places_again").sort_values("code").reset_index(drop=True)
    original = places.sort_values("code").reset_index(drop=True)
    assert client["places_again"].columns == client["places"].columns
    for name in ("name", "rank", "huge", "elevation", "verified", "founded", "seen", "tags"):
        assert again[name].equals(original[name]), name
    assert again.geometry.to_wkb().equals(original.geometry.to_wkb())


@pytest.mark.parametrize("name", ["self", "frame", 0])
def test_columns_of_a_frame_may_have_any_name(client: wayleave.Client, name: object) -> None:
    dates = pd.DataFrame({name: pd.to_datetime(["2024-01-31", None])})
    assert client.publish("any_name", dates).report["columns"][0]["type"] == "date"
    assert client.read_table("any_name")[str(name)].dt.strftime("%F").tolist()[0] == "2024-01-31"


def test_nested_values_of_a_frame_are_published_as_json(client: wayleave.Client) -> None:
    values = [
        {"a": np.int64(3), "b": np.array([1.5, np.nan])},
        {"c": float("nan"), "d": [date(2024, 1, 31), pd.NaT, pd.NA, float("inf")]},
        [pd.Timestamp("2024-01-31T12:00:00Z"), (1, np.bool_(True)), Decimal("2.5")],
    ]
    client.publish("nested", pd.DataFrame({"value": pd.Series(values, dtype=object)}))
    assert client.read_table("nested").value.tolist() == [
        {"a": 3, "b": [1.5, None]},
        {"c": None, "d": ["2024-01-31", None, None, None]},
        ["2024-01-31T12:00:00+00:00", [1, True], 2.5],
    ]
    with pytest.raises(TypeError, match="'value' holds a value of the type object"):
        client.publish("nested", pd.DataFrame({"value": [{"a": object()}]}))


def test_a_file_that_cannot_be_published_says_which_rows(client: wayleave.Client, folder: Path) -> None:
    rows = [data.feature(i, {}, data.point(500 if i % 2 else 5, 5)) for i in range(40)]
    with pytest.raises(wayleave.PublishError) as caught:
        client.publish("broken_rows", data.write(folder / "bad.geojson", rows))
    error = caught.value
    assert error.problem_count == 20
    assert error.problems[0]["row"] > 0
    assert "and 10 more" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    job = client.publish("broken_rows", folder / "bad.geojson", skip_invalid=True)
    assert job.report["rows"] == 20


def test_a_file_is_read_as_the_options_say(client: wayleave.Client, folder: Path) -> None:
    file = folder / "addresses.csv"
    file.write_bytes("01;12,5;4,5;52,5;Москва\n22;13,5;5,5;53,5;Казань\n".encode("cp1251"))
    options: dict[str, Any] = {
        "encoding": "windows-1251",
        "header": False,
        "types": {"column_1": "text", "column_2": "number"},
        "longitude": "column_3",
        "latitude": "column_4",
        "tiles": False,
    }
    tried = client.publish("addresses", file, dry_run=True, **options)
    assert (tried.state, tried.report["rows"]) == ("done", 2)
    with pytest.raises(wayleave.NotFoundError):
        client.dataset("addresses")
    client.publish("addresses", file, **options)
    read = client.read("addresses").sort_values("column_1")
    assert list(read.column_1) == ["01", "22"]
    assert list(read.column_2) == [12.5, 13.5]
    assert list(read.column_5) == ["Москва", "Казань"]
    assert [(point.x, point.y) for point in read.geometry] == [(4.5, 52.5), (5.5, 53.5)]
    client.publish("addresses", file, geometry=False, header=False, encoding="windows-1251")
    assert client["addresses"].geometry_type is None


def test_every_option_of_the_service_has_an_argument(service: Service) -> None:
    definition = httpx.get(f"{service.url}/v1/openapi.json").json()
    parameters = definition["paths"]["/v1/dataset/{table}"]["put"]["parameters"]
    options = {parameter["name"] for parameter in parameters if parameter["in"] == "query"}
    assert options - {"columns", "inspection"} == set(PARAMETERS.values())
    assert set(PARAMETERS) < set(PublishOptions.__annotations__)


def test_mistakes_are_told_before_anything_is_sent(client: wayleave.Client, proxy: Proxy, key: str) -> None:
    with wayleave.Client(key, proxy.url) as watched:
        with pytest.raises(FileNotFoundError, match="nothing"):
            watched.publish("x", "nothing.csv")
        with pytest.raises(TypeError, match="path or a dataframe"):
            watched.publish("x", 7)
        with pytest.raises(TypeError, match="pandas, not polars"):
            watched.publish("x", pl.DataFrame({"a": [1]}))
        with pytest.raises(ValueError, match="two columns named 'a'"):
            watched.publish("x", pd.DataFrame([[1, 2]], columns=["a", "a"]))
        with pytest.raises(TypeError, match="Did you mean 'title'"):
            watched.publish("x", __file__, titel="T")
    assert proxy.received == b""
    with pytest.raises(wayleave.BadRequestError):
        client.publish("x", __file__, credits=-1)
    with pytest.raises(wayleave.NotFoundError):
        client.publish("Not A Table", __file__)
    with pytest.raises(wayleave.NotFoundError):
        client.publish("not/a/table", pd.DataFrame({"a": [1]}))


def test_publishing_needs_a_platform_key(service: Service, folder: Path) -> None:
    key = Account(service, "writer@example.org").key()
    with wayleave.Client(key, service.url) as client, pytest.raises(wayleave.PermissionDeniedError):
        client.publish("denied", data.many(folder / "x.geojson", 5_000))


def test_an_upload_that_breaks_is_sent_again_and_a_lost_response_is_not(
    client: wayleave.Client, proxy: Proxy, key: str, folder: Path
) -> None:
    file = data.many(folder / "retried.geojson", 20_000)
    waits: list[float] = []
    with wayleave.Client(key, proxy.url, sleep=waits.append) as fragile:
        proxy.cut_uploads = [300_000]
        assert fragile.publish("retried", file).state == "done"
        assert [one.version for one in client.archives("retried")] == [1]
        assert len(waits) >= 1
        small = data.write(folder / "small.geojson", [data.feature(1, {}, data.point(1, 2))])
        proxy.cuts = [5]
        uploads = proxy.received.count(b"PUT ")
        with wayleave.Client(key, proxy.url) as other, pytest.raises(wayleave.ConnectionError):
            other.publish("lost", small)
        assert proxy.received.count(b"PUT ") == uploads + 1


def test_the_async_client_publishes_too(service: Service, key: str, folder: Path) -> None:
    async def publish() -> wayleave.Job:
        async with wayleave.AsyncClient(key, service.url) as client:
            job = await client.publish("by_async", data.many(folder / "async.geojson", 3000))
            return await client.job(job.id)

    job = anyio.run(publish)
    assert (job.state, job.report["rows"]) == ("done", 3000)
    assert json.dumps(job.report)


def test_a_publisher_looks_fixes_releases_and_rolls_back(client: wayleave.Client, folder: Path) -> None:
    publisher = client.publisher
    file = folder / "managed.csv"
    file.write_text("code,height\n1,2\n2,3\n")
    seen = publisher.inspect(file, types={"code": "text"})
    assert (seen["rows"], [column["type"] for column in seen["columns"]]) == (2, ["text", "integer"])
    with pytest.raises(wayleave.NotFoundError):
        client["managed"]
    client.publish("managed", file)
    assert publisher.schema("managed")["isFixed"] is False
    publisher.set_schema("managed", {"columns": [{"name": "height", "type": "integer", "unit": "m"}]})
    assert publisher.schema("managed")["isFixed"] is True
    client.publish("managed", file, draft=True)
    assert client["managed"].version == 1
    assert publisher.release("managed") == 2
    assert publisher.roll_back("managed", 1) == 3
    with pytest.raises(wayleave.ConflictError):
        publisher.release("managed")
    address = "https://data.example.org/managed.csv"
    source = publisher.set_source("managed", address, reading={"idColumn": "code"})
    assert (source["every"], source["options"]) == (None, {"idColumn": "code"})
    assert publisher.source("managed")["address"] == address
    publisher.remove_source("managed")
    with pytest.raises(wayleave.NotFoundError):
        publisher.source("managed")
    with pytest.raises(TypeError, match="release"):
        publisher.release("managed", tabel="x")  # type: ignore[call-arg]


def test_an_async_publisher_does_the_same(service: Service, key: str, folder: Path) -> None:
    file = folder / "managed_too.csv"
    file.write_text("code,height\n1,2\n2,3\n")

    async def run() -> None:
        async with wayleave.AsyncClient(key, service.url) as client:
            assert (await client.publisher.inspect(file))["rows"] == 2
            await client.publish("managed_too", file)
            await client.publish("managed_too", file, draft=True)
            assert await client.publisher.release("managed_too") == 2
            assert (await client.publisher.schema("managed_too"))["isFixed"] is False

    anyio.run(run)
