"""Files to publish, with the values that are easily lost on the way."""

from __future__ import annotations

import json
import random
from pathlib import Path


def feature(number: int | str, properties: dict, geometry: dict | None) -> dict:
    return {"type": "Feature", "id": number, "properties": properties, "geometry": geometry}


def point(*position: float) -> dict:
    return {"type": "Point", "coordinates": list(position)}


def write(path: Path, features: list[dict]) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def places(path: Path, count: int = 200) -> Path:
    """Points with every type of column, with and without nulls."""
    chance = random.Random(7)

    def sometimes(value: object) -> object:
        return value if chance.random() < 0.8 else None

    features = []
    for i in range(count):
        properties = {
            "name": sometimes(f"Ort {i} \u2013 村 🏔"),
            "code": f"{i:05}",
            "population": i * 1000,
            "rank": sometimes(2**53 + 1 + i),
            "huge": sometimes(2**63 + i),
            "elevation": sometimes(i / 7),
            "open": i % 2 == 0,
            "verified": sometimes(i % 3 == 0),
            "founded": sometimes(f"{1000 + i}-02-0{1 + i % 9}"),
            "seen": sometimes(f"2024-03-0{1 + i % 9}T1{i % 10}:00:00.{i % 1000:03}Z"),
            "tags": sometimes({"list": [i, None, "x"], "deep": {"a": 1.5}}),
        }
        place = point(chance.uniform(-180, 180), chance.uniform(-90, 90)) if i % 50 != 3 else None
        features.append(feature(i + 1, properties, place))
    return write(path, features)


def shapes(path: Path) -> Path:
    """Shapes of all kinds: mixed, with holes, in parts, with heights, missing."""
    square = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
    hole = [[1, 1], [1, 2], [2, 2], [2, 1], [1, 1]]
    line = [[0.1, 0.2], [1 / 3, 2 / 3], [5, 6]]
    geometries = [
        {"type": "Polygon", "coordinates": [square, hole]},
        {"type": "MultiPolygon", "coordinates": [[square], [[[10, 10], [11, 10], [11, 11], [10, 10]]]]},
        {"type": "LineString", "coordinates": line},
        {"type": "MultiLineString", "coordinates": [line, [[7, 7], [8, 8]]]},
        {"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]},
        {
            "type": "GeometryCollection",
            "geometries": [point(1, 2), {"type": "LineString", "coordinates": line}],
        },
        point(9, 9, 120.5),
        None,
    ]
    return write(path, [feature(i + 1, {"name": f"s{i}"}, shape) for i, shape in enumerate(geometries)])


def named(path: Path) -> Path:
    """Points with ids that are texts."""
    rows = [(f"x{i}", {"code": f"x{i}", "size": i}, point(i, i)) for i in range(30)]
    return write(path, [feature(id, properties, place) for id, properties, place in rows])


def numbered(path: Path) -> Path:
    """Points whose column `id` has other values than their ids."""
    return write(path, [feature(100 + i, {"id": i % 3, "size": i}, point(i, i)) for i in range(30)])


def surveyed(path: Path) -> Path:
    """Columns with the names that tables give to the coordinates, and one that a renamed column would get."""
    names = ("Latitude", "longitude_1", "longitude", "size")
    rows = [(f"N{i}", i / 2, f"E{i}", i) for i in range(5)]
    return write(
        path,
        [feature(i, dict(zip(names, row, strict=True)), point(i, i + 1)) for i, row in enumerate(rows)],
    )


def awkward(path: Path) -> Path:
    """Columns with commas, brackets and spaces in their names."""
    return write(
        path,
        [
            feature(i, {"size, in m²": i, "[a]": f"t{i}", "b": -i, "c d": i % 2}, point(i, i))
            for i in range(9)
        ],
    )


def many(path: Path, count: int) -> Path:
    chance = random.Random(11)
    return write(
        path,
        [
            feature(
                i,
                {"number": i, "name": f"place {i}"},
                point(chance.uniform(-180, 180), chance.uniform(-90, 90)),
            )
            for i in range(1, count + 1)
        ],
    )


def wide(path: Path) -> Path:
    """Rows longer than a shapefile can have."""
    return write(path, [feature(1, {f"c{i}": "x" * 254 for i in range(260)}, point(1, 2))])
