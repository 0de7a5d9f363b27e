"""The records of datasets, versions, pages and jobs that the service returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from wayleave._display import notebook as notebook

Feature = dict[str, Any]
"""A GeoJSON feature."""

T = TypeVar("T")


@dataclass(frozen=True)
class Column:
    """A column of a dataset: `type` is boolean, integer, number, text, date, timestamp or json."""

    name: str
    type: str
    nullable: bool
    title: str | None = None
    """Its name for people, if the publisher has given one."""
    description: str | None = None
    unit: str | None = None
    """The unit of its values, such as `km`."""


@dataclass(frozen=True)
class Format:
    """A format that a dataset can be downloaded in."""

    format: str
    media_type: str
    url: str
    bytes: int | None = None
    """The size of the file; None if it is not built yet or the size is not known."""


@dataclass(frozen=True, repr=False)
class Metadata:
    """The public description of a dataset."""

    table: str
    title: str
    description: str
    license: str
    attribution: str
    keywords: list[str]
    geometry_type: str | None
    """`Point`, `MultiPolygon`, …; `Geometry` if types are mixed; None for a table without geometry."""
    geometry_types: list[str]
    """The types that occur."""
    bbox: tuple[float, float, float, float] | None
    """West, south, east, north in WGS84."""
    time_extent: tuple[str, str] | None
    """The earliest and the latest value of the time column; None if there is none."""
    rows: int
    columns: list[Column] = field(repr=False)
    version: int
    updated_at: datetime
    credits: int
    """The price of one download."""
    formats: list[Format] = field(repr=False)
    contact: str = ""
    """A mail address, a URL or a name."""
    citation: str = ""
    update_frequency: str = ""
    """Such as `daily` or `annual`; empty if that is not stated."""
    id_column: Column | None = field(default=None, repr=False)
    """The column of the features' ids: one of `columns`, or a further one. None if it is not known."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.table!r}: {notebook.summary(self)}>"

    def _repr_html_(self) -> str:
        return notebook.dataset_html(self)


class Table(list[T]):
    """A list that shows itself as a table, as text and in notebooks."""

    def __init__(self, rows: Iterable[T] = (), shown: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self._shown = tuple(shown)

    def __repr__(self) -> str:
        return notebook.table_text(self, self._shown) if self and self._shown else super().__repr__()

    def _repr_html_(self) -> str:
        return notebook.records_html(self, self._shown)


DATASETS_SHOWN = ("table", "title", "rows", "geometry_type", "version", "credits", "license")
ARCHIVES_SHOWN = ("version", "current", "created_at", "rows", "geometry_type")


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
    """None if the service does not say."""
    formats: list[Format] = field(repr=False)
    note: str = ""
    """What the publisher says about this version."""
    changes: VersionChanges | None = None
    """How it differs from the version before, if the service knows."""


@dataclass(frozen=True)
class VersionChanges:
    """How many features differ from the version before."""

    since: int
    """The version before."""
    added: int
    removed: int
    changed: int


@dataclass(frozen=True)
class Change:
    """A feature that differs between two versions."""

    change: str
    """`added`, `removed` or `changed`."""
    id: str | int
    feature: Feature = field(repr=False)
    """The feature as it is in the later version, or as it was if it was removed."""
    before: Feature | None = field(default=None, repr=False)
    """The feature as it was, if it was changed."""


@dataclass(frozen=True)
class Page:
    """One page of features; iterating it gives the features."""

    features: list[Feature] = field(repr=False)
    number_matched: int | None
    """How many features match in total, if the service counted them."""
    number_returned: int
    next_params: Mapping[str, str] | None = field(repr=False)
    """The query of the following page; None on the last."""

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def _repr_html_(self) -> str:
        return notebook.page_html(self)


@dataclass(frozen=True)
class Job:
    """A publishing that was started by an upload."""

    id: str
    table: str
    state: str
    """`waiting`, `running`, `done`, `failed` or `cancelled`."""
    progress: Mapping[str, Any] | None = field(repr=False)
    report: Mapping[str, Any] | None = field(repr=False)
    """What was published: rows, columns, CRS, version, notes; None until it is done."""
    problem: Mapping[str, Any] | None
    """Why it failed; None unless it did."""
    created_at: datetime
    updated_at: datetime

    def _repr_html_(self) -> str:
        return notebook.job_html(self)


def metadata_of(record: Mapping[str, Any]) -> Metadata:
    return Metadata(
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
        contact=record.get("contact", ""),
        citation=record.get("citation", ""),
        update_frequency=record.get("updateFrequency", ""),
        id_column=_id_column(record.get("idColumn")),
    )


def _id_column(record: Mapping[str, Any] | None) -> Column | None:
    return None if record is None else Column(record["name"], record["type"], False)


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
        note=record.get("note", ""),
        changes=_version_changes(record.get("changes")),
    )


def _version_changes(record: Mapping[str, Any] | None) -> VersionChanges | None:
    if record is None:
        return None
    return VersionChanges(record["from"], record["added"], record["removed"], record["changed"])


def change_of(record: Mapping[str, Any]) -> Change:
    return Change(record["change"], record["id"], record["feature"], record.get("before"))


def job_of(record: Mapping[str, Any]) -> Job:
    return Job(
        id=record["id"],
        table=record["table"],
        state=record["state"],
        progress=record.get("progress"),
        report=record.get("report"),
        problem=record.get("problem"),
        created_at=_time(record["createdAt"]),
        updated_at=_time(record["updatedAt"]),
    )


def page_of(body: Mapping[str, Any]) -> Page:
    links = [link["href"] for link in body.get("links", ()) if link.get("rel") == "next"]
    return Page(
        features=body["features"],
        number_matched=body.get("numberMatched"),
        number_returned=body.get("numberReturned", len(body["features"])),
        # Only the query: the key must go to the base URL alone, whatever address a link has.
        next_params=dict(parse_qsl(urlsplit(links[0]).query, keep_blank_values=True)) if links else None,
    )


def _columns(records: list[Mapping[str, Any]]) -> list[Column]:
    return [
        Column(
            one["name"],
            one["type"],
            one["nullable"],
            title=one.get("title"),
            description=one.get("description"),
            unit=one.get("unit"),
        )
        for one in records
    ]


def _formats(records: list[Mapping[str, Any]]) -> list[Format]:
    return [Format(one["format"], one["mediaType"], one["url"], one.get("bytes")) for one in records]


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
    # Python 3.10 does not parse Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
