"""A dataframe as a Parquet file that keeps what Arrow cannot guess: dates, large integers, nested values."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayleave._extras import need
from wayleave._tables.columns import INT64_MAX, INT64_MIN

if TYPE_CHECKING:
    import pandas as pd


def save_as_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Save the columns, without the index; geodataframes become GeoParquet."""
    pyarrow = need("pyarrow", "geo", "Publishing a dataframe")
    parquet = need("pyarrow.parquet", "geo", "Publishing a dataframe")
    plain: dict[Any, list[Any]] = {}
    nested: list[Any] = []
    for name in frame.columns:
        if _are_dates(frame[name]):
            plain[name] = [None if value != value else value.date() for value in frame[name]]
        if frame[name].dtype != object:
            continue
        values = [None if _is_missing(value) else value for value in frame[name]]
        if any(isinstance(value, (dict, list)) for value in values):
            plain[name] = [None if value is None else json.dumps(value) for value in values]
            nested.append(name)
        elif any(type(value) is int and not INT64_MIN <= value <= INT64_MAX for value in values):
            plain[name] = [Decimal(value) if type(value) is int else value for value in values]
    frame.assign(**plain).to_parquet(path, index=False)
    if nested and hasattr(pyarrow, "json_"):
        # Marked as JSON, the texts stay nested values when they are published.
        table = parquet.read_table(path)
        for name in nested:
            position = table.column_names.index(name)
            marked = pyarrow.ExtensionArray.from_storage(
                pyarrow.json_(), table.column(position).cast(pyarrow.string()).combine_chunks()
            )
            table = table.set_column(position, name, marked)
        parquet.write_table(table, path)


def _are_dates(series: pd.Series) -> bool:
    """Whether all times are midnight without a time zone, as `read` returns columns of dates."""
    if series.dtype.kind != "M" or getattr(series.dtype, "tz", None) is not None:
        return False
    times = series.dropna()
    return bool(len(times) > 0 and (times == times.dt.normalize()).all())


def _is_missing(value: object) -> bool:
    """None, NaN and pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)
