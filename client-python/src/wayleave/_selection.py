"""Which features a call selects, checked before anything is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_PAGE = 10_000
"""The service's largest page. Reading 171,075 features took 3 s with it and 60 s with pages of 100."""
DEFAULT_PAGE = 1_000
"""For iterating: the first features arrive soon, and a large dataset takes few requests."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Selection:
    """The arguments of `items`; None selects everything."""

    bbox: tuple[float, ...] | None = None
    filter: str | Mapping[str, Any] | None = None
    datetime: str | None = None
    sortby: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    limit: int | None = None
    count: str | None = None

    @property
    def is_everything(self) -> bool:
        """Whether nothing is selected, so that the whole file serves."""
        return self == Selection()

    def params(self, page_size: int, columns: Sequence[str] | None = None) -> dict[str, str]:
        """The query of the first page. `columns` are requested instead of the caller's own."""
        requested = self.columns if columns is None else columns
        filter_text = (
            self.filter if self.filter is None or isinstance(self.filter, str) else json.dumps(self.filter)
        )
        params = {
            "limit": str(page_size),
            "bbox": None if self.bbox is None else ",".join(repr(number) for number in self.bbox),
            "filter": filter_text,
            "filter-lang": None if filter_text is None else _filter_language(self.filter),
            "datetime": self.datetime,
            "sortby": None if self.sortby is None else name_list(self.sortby),
            "properties": None if requested is None else name_list(requested),
            "count": self.count,
        }
        return {name: value for name, value in params.items() if value is not None}

    def names(self) -> str:
        """Everything in the selection that may name a column, as one text."""
        parts: Iterable[Any] = (*(self.columns or ()), *(self.sortby or ()), self.filter or "")
        return " ".join(part if isinstance(part, str) else json.dumps(part) for part in parts)


def selection_of(options: Mapping[str, Any]) -> Selection:
    """The selection that keyword arguments make. Raises ValueError if a value cannot be right."""
    limit = options.get("limit")
    return Selection(
        bbox=_bbox(options.get("bbox")),
        filter=options.get("filter"),
        datetime=options.get("datetime"),
        sortby=_names("sortby", options.get("sortby")),
        columns=_names("columns", options.get("columns")),
        limit=None if limit is None else int(limit),
        count=options.get("count"),
    )


def name_list(names: Sequence[str]) -> str:
    """Names as the service takes them: separated by commas, or a JSON array if it would misread them."""
    if any("," in name or name.startswith("[") for name in names):
        return json.dumps(list(names))
    return ",".join(names)


def flat(bbox: Sequence[float]) -> Box:
    """The box without its heights."""
    half = len(bbox) // 2
    return bbox[0], bbox[1], bbox[half], bbox[half + 1]


def empty_hint(bbox: Sequence[float], extent: Box | None) -> str | None:
    """Why nothing lies in a box, if the dataset's own extent explains it."""
    west, south, east, north = flat(bbox)
    if extent is None or _meet((west, south, east, north), extent):
        return None
    shown = ", ".join(f"{number:g}" for number in flat(bbox))
    if _meet((south, west, north, east), extent):
        return (
            f"No feature lies in bbox=({shown}). The order is west, south, east, north (longitude before "
            f"latitude). Did you swap longitude and latitude?"
        )
    return (
        f"No feature lies in bbox=({shown}): the dataset's extent is ({', '.join(f'{n:g}' for n in extent)})."
    )


def _meet(box: Box, extent: Box) -> bool:
    west, south, east, north = box
    across = (
        west <= extent[2] and east >= extent[0] if west <= east else west <= extent[2] or east >= extent[0]
    )
    return across and south <= extent[3] and north >= extent[1]


def _bbox(value: Any) -> tuple[float, ...] | None:  # noqa: ANN401
    if value is None:
        return None
    order = (
        "bbox takes four numbers: west, south, east, north, in degrees of WGS84 (longitude before latitude)"
    )
    if isinstance(value, str):
        raise ValueError(f"{order}; a text was given.")
    try:
        numbers = tuple(float(number) for number in value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{order}.") from error
    if len(numbers) not in (4, 6) or not all(math.isfinite(number) for number in numbers):
        raise ValueError(f"{order}; {numbers} was given.")
    _, south, _, north = flat(numbers)
    if not (-90 <= south <= 90 and -90 <= north <= 90):
        raise ValueError(f"{order}; in {numbers} a latitude lies beyond 90 degrees. Is the order right?")
    if south > north:
        raise ValueError(f"{order}; in {numbers} the southern edge lies north of the northern one.")
    return numbers


def _names(argument: str, value: Any) -> tuple[str, ...] | None:  # noqa: ANN401
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(value.split(","))
    names = tuple(value)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{argument} takes a list of column names.")
    return names


def _filter_language(filter: object) -> str:
    return "cql2-text" if isinstance(filter, str) else "cql2-json"
