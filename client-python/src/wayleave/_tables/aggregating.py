"""Groups of a dataset's features, with measures, as dataframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wayleave._errors import BadRequestError
from wayleave._extras import need
from wayleave._hints import column_hint
from wayleave._http import plans
from wayleave._http.retry import Policy
from wayleave._http.steps import Plan, compute
from wayleave._models import Column
from wayleave._selection import MAX_PAGE, name_list, selection_of
from wayleave._tables.columns import series_of
from wayleave._tables.frames import CRS
from wayleave._tables.geometries import geometries_of

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd


def aggregate(
    table: str,
    groupby: str | Sequence[str] | None,
    measures: str | Sequence[str],
    options: Mapping[str, Any],
    policy: Policy,
) -> Plan[pd.DataFrame | gpd.GeoDataFrame]:
    """All groups, or the first `limit` ones, page by page."""
    spatial = bool(options.get("geometry", False))
    need("geopandas" if spatial else "pandas", "geo" if spatial else "pandas", "A dataframe")
    limit = options.get("limit")
    params = _params(groupby, measures, options, spatial)
    pages: list[dict[str, Any]] = []
    received = 0
    while True:
        rest = MAX_PAGE if limit is None else min(MAX_PAGE, int(limit) - received)
        page = yield from _page(table, {**params, "limit": str(rest), "offset": str(received)}, policy)
        pages.append(page)
        count = len(_rows(page))
        received += count
        is_last = received >= page["numberGroups"] or count == 0
        if is_last or (limit is not None and received >= int(limit)):
            break
    return (yield from compute(lambda: _frame(table, pages, spatial)))


def _page(table: str, params: Mapping[str, str], policy: Policy) -> Plan[dict[str, Any]]:
    path = f"/v1/ogc/collections/{plans.segment(table)}/aggregate"
    try:
        return (yield from plans.with_table_hint(table, plans.fetch(path, policy, dict, params)))
    except BadRequestError as error:
        columns = yield from plans.column_names(table, policy)
        error.add_hint(column_hint(error, " ".join(params.values()), columns) or "" if columns else "")
        raise


def _params(
    groupby: str | Sequence[str] | None,
    measures: str | Sequence[str],
    options: Mapping[str, Any],
    spatial: bool,
) -> dict[str, str]:
    names = ("bbox", "filter", "datetime")
    selected = selection_of({name: options.get(name) for name in names}).params(MAX_PAGE)
    own = {
        "groupby": _listed(groupby),
        "measures": _listed(measures),
        "having": options.get("having"),
        "sortby": _listed(options.get("sortby")),
        "others": "true" if options.get("others", False) else None,
        "f": "geojson" if spatial else "json",
    }
    return selected | {name: value for name, value in own.items() if value}


def _listed(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else name_list(list(names))


def _rows(page: Mapping[str, Any]) -> list[list[Any]]:
    if "rows" in page:
        rows: list[list[Any]] = page["rows"]
        return rows
    return [list(feature["properties"].values()) for feature in page["features"]]


def _frame(table: str, pages: Sequence[Mapping[str, Any]], spatial: bool) -> pd.DataFrame | gpd.GeoDataFrame:
    pandas = need("pandas", "pandas", "A dataframe")
    rows = [row for page in pages for row in _rows(page)]
    columns = pages[0]["columns"]
    data = {
        column["name"]: series_of([row[i] for row in rows], Column(column["name"], column["type"], True))
        for i, column in enumerate(columns)
    }
    frame = pandas.DataFrame(data, index=pandas.RangeIndex(len(rows)), copy=False)
    if spatial:
        geopandas = need("geopandas", "geo", "A geodataframe")
        geometry = geometries_of([feature["geometry"] for page in pages for feature in page["features"]])
        frame = geopandas.GeoDataFrame(frame, geometry=geometry, crs=CRS)
    frame.attrs["table"] = table
    frame.attrs["number_groups"] = pages[0]["numberGroups"]
    if "others" in pages[-1]:
        others = pages[-1]["others"]
        names = [one["name"] for one in columns]
        frame.attrs["others"] = None if others is None else dict(zip(names, others, strict=True))
    frame.attrs["units"] = {one["name"]: one["unit"] for one in columns if "unit" in one}
    return frame
