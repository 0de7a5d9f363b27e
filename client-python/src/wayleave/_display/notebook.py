"""How objects look in notebooks and terminals. Every text is escaped; nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from wayleave._display.map import features_svg, world_svg

if TYPE_CHECKING:
    from wayleave._models import Job, Metadata, Page

MAX_ROWS = 10
MAX_CELL = 80


def summary(dataset: Metadata) -> str:
    """One line: what the dataset is, how large, which version, at which price."""
    kind = dataset.geometry_type or "no geometry"
    price = (
        "free" if dataset.credits == 0 else f"{dataset.credits:,} credit{'s' if dataset.credits > 1 else ''}"
    )
    return f"{dataset.title}, {dataset.rows:,} rows, {kind}, version {dataset.version}, {price} a download"


def dataset_html(dataset: Metadata) -> str:
    """Description, facts and columns beside a map of the extent."""
    facts = {
        "table": dataset.table,
        "rows": f"{dataset.rows:,}",
        "geometry": dataset.geometry_type or "none",
        "bbox": "" if dataset.bbox is None else ", ".join(f"{number:g}" for number in dataset.bbox),
        "time": "" if dataset.time_extent is None else " to ".join(dataset.time_extent),
        "version": f"{dataset.version}, {dataset.updated_at:%Y-%m-%d %H:%M} UTC",
        "license": dataset.license,
        "attribution": dataset.attribution,
        "price": f"{dataset.credits:,} credits a download",
        "formats": ", ".join(one.format for one in dataset.formats),
    }
    columns = [(one.name, one.type, "yes" if one.nullable else "no") for one in dataset.columns]
    description = f"<p>{escape(dataset.description)}</p>" if dataset.description else ""
    return (
        f"<div><h4>{escape(dataset.title)}</h4>{description}"
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">'
        f"{_table(None, [pair for pair in facts.items() if pair[1]])}"
        f"{world_svg(dataset.bbox)}</div>"
        f"<details><summary>{len(columns)} columns</summary>"
        f"{_table(('column', 'type', 'nullable'), columns)}</details></div>"
    )


def records_html(records: Sequence[Any], names: Sequence[str]) -> str:
    """A table with a row for each object and a column for each attribute."""
    return _table(names, [[_shown(getattr(record, name)) for name in names] for record in records])


def table_text(records: Sequence[Any], names: Sequence[str]) -> str:
    """The same table for a terminal."""
    rows = [list(names), *([_cut(_shown(getattr(record, name)), 40) for name in names] for record in records)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def page_html(page: Page) -> str:
    """The first features as a table, and all of them on a map."""
    first = page.features[:MAX_ROWS]
    names = list(dict.fromkeys(name for one in first for name in one.get("properties") or {}))
    rows = [
        [_shown(one.get("id")), *(_shown((one.get("properties") or {}).get(name)) for name in names)]
        for one in first
    ]
    matched = "" if page.number_matched is None else f" of {page.number_matched:,}"
    hidden_count = len(page.features) - len(first)
    more = f"<p>… and {hidden_count:,} more features on this page</p>" if hidden_count > 0 else ""
    return (
        f"<div><p>{page.number_returned:,}{matched} features</p>"
        f"{features_svg(page.features)}{_table(('id', *names), rows)}{more}</div>"
    )


def job_html(job: Job) -> str:
    """The state of a publishing and its report or problem."""
    facts: dict[str, Any] = {"table": job.table, "state": job.state, "job": job.id}
    details: Mapping[str, Any] = job.report or job.problem or job.progress or {}
    facts |= {name: value for name, value in details.items() if isinstance(value, (str, int, float))}
    return _table(None, [(name, _shown(value)) for name, value in facts.items()])


def _table(heads: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> str:
    head = f"<thead><tr>{_cells('th', heads)}</tr></thead>" if heads else ""
    tag = "td" if heads else "th"
    body = "".join(f"<tr>{_cells(tag, row[:1])}{_cells('td', row[1:])}</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _cells(tag: str, texts: Sequence[str]) -> str:
    style = ' style="text-align:left"'
    return "".join(f"<{tag}{style}>{escape(_cut(text, MAX_CELL * 4))}</{tag}>" for text in texts)


def _shown(value: Any) -> str:  # noqa: ANN401
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M}"
    return _cut(str(value), MAX_CELL)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
