"""A dataframe as a Parquet file that keeps what Arrow cannot guess: dates, large integers, nested values."""

from __future__ import annotations

import json
import math
from datetime import date, time
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
    duplicates = frame.columns[frame.columns.duplicated()]
    if len(duplicates) > 0:
        raise ValueError(f"The dataframe has two columns named {duplicates[0]!r}.")
    plain: dict[Any, list[Any]] = {}
    nested: list[Any] = []
    for name in frame.columns:
        if _are_dates(frame[name]):
            plain[name] = [None if value != value else value.date() for value in frame[name]]
        if frame[name].dtype != object:
            continue
        values = [None if _is_missing(value) else value for value in frame[name]]
        if any(isinstance(value, (dict, list)) for value in values):
            plain[name] = [None if value is None else _json_text(value, name) for value in values]
            nested.append(name)
        elif any(type(value) is int and not INT64_MIN <= value <= INT64_MAX for value in values):
            plain[name] = [Decimal(value) if type(value) is int else value for value in values]
    # Not by `assign`, whose keyword arguments exclude some names.
    saved = frame.copy(deep=False)
    for name, values in plain.items():
        saved[name] = values
    saved.to_parquet(path, index=False)
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


def _json_text(value: object, column: object) -> str:
    try:
        return json.dumps(_json_value(value), allow_nan=False)
    except TypeError as error:
        raise TypeError(f"The column {column!r} holds {error}, which JSON cannot express.") from error


def _json_value(value: Any) -> Any:  # noqa: ANN401
    """The value for JSON, which has no dates and no number that is infinite or not a number."""
    if isinstance(value, dict):
        return {str(name): _json_value(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_json_value(one) for one in value]
    if _is_missing(value) or type(value).__name__ == "NaTType":
        return None
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, (float, Decimal)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (date, time)):
        return value.isoformat()
    if hasattr(value, "tolist"):
        # Arrays and scalars of numpy.
        return _json_value(value.tolist())
    raise TypeError(f"a value of the type {type(value).__name__}")


def _are_dates(series: pd.Series) -> bool:
    """Whether all times are midnight without a time zone, as `read` returns columns of dates."""
    if series.dtype.kind != "M" or getattr(series.dtype, "tz", None) is not None:
        return False
    times = series.dropna()
    return bool(len(times) > 0 and (times == times.dt.normalize()).all())


def _is_missing(value: object) -> bool:
    """None, NaN and pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)
