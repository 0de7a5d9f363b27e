"""Values of a column to a pandas array of the column's type.

boolean    bool, or boolean if the column is nullable
integer    int64, or Int64 if nullable; Python integers if one does not fit 64 bits
number     float64
text       the text type of the installed pandas
date       datetime64[us]
timestamp  datetime64[us, UTC]
json       Python objects
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wayleave._extras import need
from wayleave._models import Column

if TYPE_CHECKING:
    import pandas as pd

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def series_of(values: Sequence[Any], column: Column) -> pd.Series:
    """JSON values; a value that does not fit the column's type leaves the column as it came."""
    pandas = need("pandas", "pandas", "A dataframe")
    kind = column.type
    nullable = column.nullable or (kind in ("integer", "boolean") and None in values)
    try:
        if kind == "boolean":
            return pandas.Series(values, dtype="boolean" if nullable else "bool")
        if kind == "integer":
            return _integers(values, nullable)
        if kind == "number":
            return pandas.Series(values, dtype="float64")
        if kind == "text":
            return pandas.Series(values, dtype=text_dtype())
        if kind == "date":
            return _times(values)
        if kind == "timestamp":
            return _times([value and value.removesuffix("Z") for value in values]).dt.tz_localize("UTC")
    except (TypeError, ValueError):
        pass
    return pandas.Series(values, dtype=object)


def _integers(values: Sequence[int | None], nullable: bool) -> pd.Series:
    pandas = need("pandas", "pandas", "A dataframe")
    integers = [value for value in values if value is not None]
    if integers and not (min(integers) >= INT64_MIN and max(integers) <= INT64_MAX):
        return pandas.Series(values, dtype=object)
    if not nullable:
        return pandas.Series(values, dtype="int64")
    # Through a mask: by way of floats, as pandas itself would go, large integers are rounded.
    numpy = need("numpy", "pandas", "A dataframe")
    mask = numpy.fromiter((value is None for value in values), dtype=bool, count=len(values))
    filled = numpy.fromiter((value or 0 for value in values), dtype="int64", count=len(values))
    return pandas.Series(pandas.arrays.IntegerArray(filled, mask))


def _times(values: Sequence[str | None]) -> pd.Series:
    # numpy reads ISO 8601 at any year; pandas 2 would know none before 1677.
    numpy = need("numpy", "pandas", "A dataframe")
    pandas = need("pandas", "pandas", "A dataframe")
    return pandas.Series(numpy.array([value or "NaT" for value in values], dtype="datetime64[us]"))


def text_dtype() -> Any:  # noqa: ANN401
    """Pandas 3 has a text type by default; before it, text was objects."""
    pandas = need("pandas", "pandas", "A dataframe")
    return "str" if int(pandas.__version__.split(".")[0]) >= 3 else object
