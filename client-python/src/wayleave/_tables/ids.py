"""The column of a result that holds the features' ids.

It follows the service's exports: `id`, or `feature_id` if the dataset has a column `id` with other values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wayleave._models import Column

ID_NAMES = ("id", "feature_id")


def id_column(
    columns: Collection[str],
    shown: Collection[str],
    ids: Sequence[object],
    own: Sequence[object],
    known: Column | None,
) -> str | None:
    """The name for a column of ids; None if the dataset's own column `id` (its values are `own`) has them.

    `columns` are all columns of the dataset, and `shown` those of the result: the ids have the same name in
    every part of a dataset, and a name that the dataset uses for something else never holds them. `known` is
    what the service says about the ids; without it, the values decide.
    """
    if known is not None:
        return None if known.name in shown else known.name
    if ids and all(one is None for one in ids):
        return None
    if "id" not in columns:
        return "id"
    if list(ids) == list(own):
        return None if "id" in shown else "id"
    name, number = "feature_id", 1
    while name in columns:
        name, number = f"feature_id_{number}", number + 1
    return name


def ids_first(names: Iterable[str], columns: Collection[str]) -> list[str]:
    """The names of an export, with the column of ids that the service added before all others."""
    listed = list(names)
    added = [name for name in listed if name in ID_NAMES and name not in columns]
    return [*added, *(name for name in listed if name not in added)]
