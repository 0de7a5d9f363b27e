"""Small maps as inline SVG, without scripts and without anything to load."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from wayleave._display.land import LAND

WIDTH = 360
MAX_FEATURES = 2_000
MAX_POSITIONS = 20_000
MAX_DETAIL = 500
SEA, GROUND, LINE, MARK = "#eef4f8", "#d5dbd3", "#c3ccd2", "#c2410c"

Box = tuple[float, float, float, float]
Position = tuple[float, float]


def world_svg(bbox: Box | None) -> str:
    """The world with a box on it; empty if there is no box."""
    if bbox is None:
        return ""
    west, south, east, north = bbox
    # A box that crosses the antimeridian is drawn in two parts.
    spans = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
    boxes = "".join(
        f'<rect x="{_number(left + 180)}" y="{_number(90 - north)}" width="{_number(max(right - left, 1))}" '
        f'height="{_number(max(north - south, 1))}" fill="{MARK}" fill-opacity="0.2" stroke="{MARK}"/>'
        for left, right in spans
    )
    return _svg((0, 0, 360, 180), _land() + boxes, "Extent on a map of the world")


def features_svg(features: Sequence[dict[str, Any]]) -> str:
    """Features over the continents, zoomed to them; bounded, however many and detailed they are."""
    shapes: list[tuple[str, list[Position]]] = []
    remaining_positions = MAX_POSITIONS
    parts = (part for feature in features[:MAX_FEATURES] for part in _parts(feature.get("geometry")))
    for kind, positions in parts:
        if positions:
            shapes.append((kind, positions))
        remaining_positions -= len(positions)
        if remaining_positions <= 0:
            break
    xs = [x for _, positions in shapes for x, _ in positions]
    ys = [y for _, positions in shapes for _, y in positions]
    if not xs:
        return ""
    margin = max(max(xs) - min(xs), max(ys) - min(ys), 0.01) * 0.1
    width, height = max(xs) - min(xs) + 2 * margin, max(ys) - min(ys) + 2 * margin
    view = (min(xs) - margin, min(ys) - margin, width, max(height, width / 3))
    radius = _number(view[2] / 150)
    marks = "".join(
        _circle(positions[0], radius) if kind == "point" else _outline(positions, kind == "polygon")
        for kind, positions in shapes
    )
    return _svg(view, _land() + marks, "The features on a map")


def _svg(view: tuple[float, float, float, float], content: str, title: str) -> str:
    x, y, width, height = (_number(number) for number in view)
    size = f'width="{WIDTH}" height="{_number(min(WIDTH, WIDTH * view[3] / view[2]))}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} viewBox="{x} {y} {width} {height}">'
        f"<title>{title}</title>"
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{SEA}"/>{content}</svg>'
    )


def _land() -> str:
    return f'<path d="{LAND}" fill="{GROUND}" stroke="{LINE}" vector-effect="non-scaling-stroke"/>'


def _circle(position: Position, radius: str) -> str:
    return f'<circle cx="{_number(position[0])}" cy="{_number(position[1])}" r="{radius}" fill="{MARK}"/>'


def _outline(positions: Sequence[Position], filled: bool) -> str:
    return (
        f'<path d="{_path(positions)}" fill="{MARK if filled else "none"}" fill-opacity="0.2" '
        f'stroke="{MARK}" vector-effect="non-scaling-stroke"/>'
    )


def _path(positions: Sequence[Position]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in positions)


def _parts(geometry: dict[str, Any] | None) -> Iterator[tuple[str, list[Position]]]:
    """The points, lines and outer rings of a GeoJSON geometry, as positions on the map."""
    if not geometry:
        return
    kind, nested = geometry["type"], geometry.get("coordinates") or []
    if kind == "GeometryCollection":
        for one in geometry.get("geometries") or ():
            yield from _parts(one)
    elif kind == "Point":
        yield from (("point", [one]) for one in _positions([nested] if nested else []))
    elif kind == "MultiPoint":
        yield from (("point", [one]) for one in _positions(nested))
    elif kind in ("LineString", "MultiLineString"):
        for line in [nested] if kind == "LineString" else nested:
            if line:
                yield "line", _positions(line)
    elif kind in ("Polygon", "MultiPolygon"):
        for polygon in [nested] if kind == "Polygon" else nested:
            if polygon:
                yield "polygon", _positions(polygon[0])


def _positions(coordinates: Sequence[Sequence[float]]) -> list[Position]:
    """Positions on the map, at most about a thousand: more detail would not be visible."""
    step = max(1, len(coordinates) // MAX_DETAIL)
    drawn = [*coordinates[::step], *(coordinates[-1:] if step > 1 else ())]
    return [(float(one[0]) + 180, 90 - float(one[1])) for one in drawn]


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "0"
