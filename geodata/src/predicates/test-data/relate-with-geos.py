"""Prints random pairs of valid geometries with GEOS's results for them, one JSON line per pair.

Arguments: a seed and the number of pairs. GEOS rounds the points where edges cross, so it is sometimes
wrong on degenerate pairs. Pairs for which its predicates and its overlay contradict each other are left out.
"""

import json
import random
import sys

import shapely
from shapely.geometry import (
    GeometryCollection,
    LineString,
    MultiLineString,
    MultiPoint,
    MultiPolygon,
    Point,
    Polygon,
    box,
    mapping,
)

PREDICATES = ["intersects", "disjoint", "equals", "touches", "within", "contains", "crosses", "overlaps"]
SWAPPED = {"within": "contains", "contains": "within"}

chance = random.Random(int(sys.argv[1]))


def coordinate(kind):
    if kind == "grid":
        return float(chance.randint(0, 4))
    if kind == "quarters":
        return chance.randint(0, 12) / 4
    return chance.uniform(0, 5)


def place(kind):
    return (coordinate(kind), coordinate(kind))


def line(kind):
    while True:
        places = [place(kind) for _ in range(chance.randint(2, 5))]
        if len(set(places)) > 1:
            return LineString(places + places[:1] if chance.random() < 0.15 else places)


def polygon(kind):
    for _ in range(1000):
        shape = chance.random()
        if shape < 0.25:
            x, y = place(kind)
            candidate = box(x, y, x + coordinate(kind), y + coordinate(kind), ccw=chance.random() < 0.5)
        elif shape < 0.75:
            candidate = Polygon([place(kind) for _ in range(chance.randint(3, 6))])
        else:
            shell = [place(kind) for _ in range(chance.randint(3, 5))]
            candidate = Polygon(shell, [[place(kind) for _ in range(3)]])
        if candidate.is_valid and candidate.area > 0:
            return candidate
    return box(0, 0, 1, 1)


def multi_polygon(kind):
    for _ in range(50):
        candidate = MultiPolygon([polygon(kind) for _ in range(chance.randint(1, 3))])
        if candidate.is_valid:
            return candidate
    return polygon(kind)


def geometry(kind):
    return chance.choice(
        [
            lambda: Point(place(kind)),
            lambda: MultiPoint([place(kind) for _ in range(chance.randint(1, 4))]),
            lambda: line(kind),
            lambda: MultiLineString([line(kind) for _ in range(chance.randint(1, 3))]),
            lambda: polygon(kind),
            lambda: multi_polygon(kind),
            lambda: collection(kind),
        ]
    )()


def collection(kind):
    """Points and lines, or points and areas that may overlap. GEOS is unreliable for lines together with areas."""
    count = chance.randint(1, 3)
    if chance.random() < 0.5:
        return GeometryCollection([chance.choice([line, lambda k: Point(place(k))])(kind) for _ in range(count)])
    areas = [chance.choice([polygon, multi_polygon])(kind) for _ in range(count)]
    return GeometryCollection(areas + [Point(place(kind))] * chance.randint(0, 1))


def pair():
    kind = chance.choice(["grid", "grid", "quarters", "doubles"])
    a = geometry(kind)
    luck = chance.random()
    if luck < 0.03:
        return a, chance.choice([Point(), LineString(), Polygon(), MultiPolygon(), GeometryCollection()])
    return a, geometry(kind)


def answers(a, b, swapped=False):
    if swapped:
        return [bool(getattr(b, SWAPPED.get(name, name))(a)) for name in PREDICATES]
    return [bool(getattr(a, name)(b)) for name in PREDICATES]


def covers(a, b):
    """Uses GEOS's overlay, which shares no code with its predicates."""
    rest = [p.difference(q) for p in parts(b) for q in [shapely.union_all(parts(a))]]
    return all(piece.is_empty or piece.length + piece.area < 1e-9 and piece.distance(a) < 1e-9 for piece in rest)


def parts(geometry):
    return [p for p in shapely.get_parts(geometry) for p in shapely.get_parts(p) if not p.is_empty]


def trusted(a, b):
    answer = answers(a, b)
    if answers(a, b, swapped=True) != answer or a.is_empty or b.is_empty:
        return answer if a.is_empty or b.is_empty else None
    if covers(a, b) != a.covers(b) or covers(b, a) != b.covers(a):
        return None
    return answer


for _ in range(int(sys.argv[2])):
    a, b = pair()
    try:
        expected = trusted(a, b)
    except shapely.errors.GEOSException:
        expected = None
    if expected is not None:
        print(json.dumps([mapping(a), mapping(b), expected]))
