from __future__ import annotations

from pathlib import Path

import data
import pytest
from pandas.testing import assert_frame_equal

import wayleave

FIRST = {"a": ("Aarau", 1), "b": ("Basel", 2), "c": ("Chur", 3)}
SECOND = {"b": ("Basel", 2), "c": ("Chur", 4), "d": ("Davos", 5)}


def publish(client: wayleave.Client, table: str, path: Path, places: dict[str, tuple[str, int]]) -> None:
    features = [
        data.feature(number, {"code": code, "name": name, "size": x}, data.point(x, 0))
        for number, (code, (name, x)) in enumerate(places.items())
    ]
    client.publish(table, data.write(path, features), id_column="code")


def test_changes_are_the_features_that_differ(client: wayleave.Client, folder: Path) -> None:
    publish(client, "stations", folder / "stations.geojson", FIRST)
    publish(client, "stations", folder / "stations.geojson", SECOND)
    changes = client.changes("stations", since=1)
    assert sorted((one.change, one.id) for one in changes) == [
        ("added", "d"),
        ("changed", "c"),
        ("removed", "a"),
    ]
    moved = next(one for one in changes if one.id == "c")
    assert moved.before is not None
    assert (moved.feature["properties"]["size"], moved.before["properties"]["size"]) == (4, 3)
    assert client.changes("stations", since=2) == []
    with pytest.raises(wayleave.ConflictError, match="row numbers"):
        client.changes("places", since=1)


def test_a_frame_is_brought_up_to_date(client: wayleave.Client, folder: Path) -> None:
    publish(client, "shelters", folder / "shelters.geojson", FIRST)
    frame = client.read("shelters")
    assert client.update(frame, "shelters") is frame
    publish(client, "shelters", folder / "shelters.geojson", SECOND)
    updated = client.update(frame, "shelters")
    assert (updated.attrs["version"], updated.crs) == (2, "EPSG:4326")
    current = client.read("shelters")
    in_order = [one.sort_values("code").reset_index(drop=True) for one in (updated, current)]
    assert_frame_equal(*in_order)
    metres = client.update(frame.to_crs(3857), "shelters")
    assert metres.crs == "EPSG:3857"
    with pytest.raises(ValueError, match="name no version"):
        client.update(frame, "places")
    with pytest.raises(wayleave.WayleaveError, match="not all columns"):
        client.update(frame.drop(columns="name"), "shelters")
