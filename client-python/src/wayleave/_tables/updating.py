"""Plans that fetch the changes between two versions, and apply them to a frame."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wayleave._errors import WayleaveError
from wayleave._extras import need
from wayleave._http.deliver import Progress, deliver
from wayleave._http.plans import provenance, segment, with_max_credits, with_table_hint
from wayleave._http.sink import MemorySink
from wayleave._http.steps import Plan, Request, compute
from wayleave._models import Change, Column, Metadata, change_of
from wayleave._settings import Settings
from wayleave._tables.frames import frame_of_features, no_garbage_collection
from wayleave._tables.reading import describe_version

if TYPE_CHECKING:
    import geopandas as gpd


def changes(
    settings: Settings, table: str, since: int, options: Mapping[str, Any], progress: Progress
) -> Plan[list[Change]]:
    """What was added, removed and changed since a version."""
    policy, sink = settings.policy(options), MemorySink()
    params = {"from": str(int(since))}
    if options.get("to") is not None:
        params["to"] = str(int(options["to"]))
    asked = Request(
        f"/v1/dataset/{segment(table)}/changes",
        params=params,
        headers={"Accept-Encoding": "gzip"},
        timeout=policy.timeout,
    )
    asked = with_max_credits(asked, options)
    yield from with_table_hint(table, deliver(asked, sink, policy, progress))
    content = yield from compute(sink.content)

    def parse() -> list[Change]:
        with no_garbage_collection():
            return [change_of(json.loads(line)) for line in content.splitlines() if line]

    return (yield from compute(parse))


def update(
    settings: Settings, frame: gpd.GeoDataFrame, table: str, options: Mapping[str, Any], progress: Progress
) -> Plan[gpd.GeoDataFrame]:
    """The frame of another version, made of this one and the changes between the two."""
    need("geopandas", "geo", "A geodataframe")
    since = frame.attrs.get("version")
    if frame.attrs.get("table") != table or not isinstance(since, int):
        raise ValueError(
            f'The frame is not one that read("{table}") has returned: its attrs name no version.'
        )
    metadata = yield from describe_version(table, options.get("to"), settings.policy(options))
    if metadata.version == since:
        return frame
    wanted = {**options, "to": metadata.version}
    if metadata.version < since:
        raise ValueError(f"The frame has version {since}, which is later than {metadata.version}.")
    found = yield from changes(settings, table, since, wanted, progress)
    updated = yield from compute(lambda: _applied(frame, found, metadata))
    updated.attrs.update((yield from provenance(settings, metadata)))
    return updated


def _applied(frame: gpd.GeoDataFrame, found: list[Change], metadata: Metadata) -> gpd.GeoDataFrame:
    """Rows that stay are in their order, and those that were added or changed follow."""
    pandas = need("pandas", "geo", "A geodataframe")
    ids = _id_name(frame, metadata)
    gone = {one.id for one in found if one.change != "added"}
    stay = frame[~frame[ids].isin(gone)]
    features = [one.feature for one in found if one.change != "removed"]
    known = metadata.id_column or Column(ids, _type_of(frame, ids), False)
    names = [column.name for column in metadata.columns]
    new = frame_of_features(features, metadata.columns, names, known)
    if frame.crs is not None and frame.crs != new.crs:
        new = new.to_crs(frame.crs)
    if len(stay) == 0:
        return new
    if set(stay.columns) != set(new.columns):
        # A new column changes every feature, so none stays that lacks it.
        raise WayleaveError("The frame has not all columns of its version: read the whole dataset again.")
    result = pandas.concat([stay, new[list(stay.columns)]], ignore_index=True) if len(new) else stay.copy()
    return result.set_geometry("geometry", crs=frame.crs)


def _id_name(frame: gpd.GeoDataFrame, metadata: Metadata) -> str:
    name = metadata.id_column.name if metadata.id_column is not None else "id"
    if name not in frame.columns:
        raise WayleaveError(f'The frame has no column "{name}" with the ids: read the whole dataset again.')
    return name


def _type_of(frame: gpd.GeoDataFrame, name: str) -> str:
    return "integer" if frame[name].dtype.kind in "iu" else "text"
