from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Feature = dict[str, Any]
"""A GeoJSON feature."""


@dataclass(frozen=True)
class Column:
    """A column of a dataset: `type` is boolean, integer, number, text, date, timestamp or json."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True)
class Format:
    """A format that a dataset can be downloaded in."""

    format: str
    media_type: str
    url: str


@dataclass(frozen=True)
class Dataset:
    """What anyone may know of a dataset."""

    table: str
    title: str
    description: str
    license: str
    attribution: str
    keywords: list[str]
    geometry_type: str | None
    """`Point`, `MultiPolygon`, …; `Geometry` where shapes are mixed; None for a table without geometry."""
    geometry_types: list[str]
    """The types that occur."""
    bbox: tuple[float, float, float, float] | None
    """West, south, east, north in WGS84."""
    time_extent: tuple[str, str] | None
    """The earliest and the latest value of the column that tells the time; None where there is none."""
    rows: int
    columns: list[Column] = field(repr=False)
    version: int
    updated_at: datetime
    credits: int
    """What one download costs."""
    formats: list[Format] = field(repr=False)


@dataclass(frozen=True)
class Archive:
    """One version of a dataset."""

    version: int
    current: bool
    created_at: datetime
    rows: int
    geometry_type: str | None
    geometry_types: list[str]
    bbox: tuple[float, float, float, float] | None
    time_extent: tuple[str, str] | None
    columns: list[Column] | None = field(repr=False)
    """None where the service does not tell."""
    formats: list[Format] = field(repr=False)


@dataclass(frozen=True)
class Page:
    """One page of features; iterating it gives the features."""

    features: list[Feature] = field(repr=False)
    number_matched: int | None
    """How many features match in all, where the service can tell."""
    number_returned: int
    next_params: Mapping[str, str] | None = field(repr=False)
    """The query of the following page; None on the last."""

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)


def dataset_of(record: Mapping[str, Any]) -> Dataset:
    return Dataset(
        table=record["table"],
        title=record["title"],
        description=record["description"],
        license=record["license"],
        attribution=record["attribution"],
        keywords=list(record["keywords"]),
        geometry_type=record["geometryType"],
        geometry_types=list(record.get("geometryTypes", ())),
        bbox=_bbox(record["bbox"]),
        time_extent=_time_extent(record.get("timeExtent")),
        rows=record["rows"],
        columns=_columns(record["columns"]),
        version=record["version"],
        updated_at=_time(record["updatedAt"]),
        credits=record["credits"],
        formats=_formats(record["formats"]),
    )


def archive_of(record: Mapping[str, Any]) -> Archive:
    return Archive(
        version=record["version"],
        current=record["current"],
        created_at=_time(record["createdAt"]),
        rows=record["rows"],
        geometry_type=record["geometryType"],
        geometry_types=list(record.get("geometryTypes", ())),
        bbox=_bbox(record["bbox"]),
        time_extent=_time_extent(record.get("timeExtent")),
        columns=_columns(record["columns"]) if "columns" in record else None,
        formats=_formats(record["formats"]),
    )


def page_of(body: Mapping[str, Any]) -> Page:
    links = [link["href"] for link in body.get("links", ()) if link.get("rel") == "next"]
    return Page(
        features=body["features"],
        number_matched=body.get("numberMatched"),
        number_returned=body.get("numberReturned", len(body["features"])),
        # The query alone: the key goes to the base URL and nowhere else, whatever a link says.
        next_params=dict(parse_qsl(urlsplit(links[0]).query, keep_blank_values=True)) if links else None,
    )


def _columns(records: list[Mapping[str, Any]]) -> list[Column]:
    return [Column(one["name"], one["type"], one["nullable"]) for one in records]


def _formats(records: list[Mapping[str, Any]]) -> list[Format]:
    return [Format(one["format"], one["mediaType"], one["url"]) for one in records]


def _bbox(numbers: list[float] | None) -> tuple[float, float, float, float] | None:
    if numbers is None:
        return None
    west, south, east, north = numbers
    return west, south, east, north


def _time_extent(ends: list[str] | None) -> tuple[str, str] | None:
    if ends is None:
        return None
    start, end = ends
    return start, end


def _time(text: str) -> datetime:
    # Python 3.10 does not know that Z is UTC.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
