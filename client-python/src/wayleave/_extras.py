from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from wayleave._errors import MissingExtraError

PACKAGES = {
    "pandas": "pandas",
    "geo": "geopandas pandas pyarrow shapely",
    "arrow": "pyarrow shapely",
    "polars": "polars pyarrow shapely",
    "duckdb": "duckdb pyarrow pytz shapely",
    "progress": "tqdm",
}
"""The packages of each extra. They are named one by one since this package is in no index."""


def need(module: str, extra: str, purpose: str) -> Any:  # noqa: ANN401
    """The module, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtraError(
            f"{purpose} needs {package}, which is not installed. "
            f'Run: pip install {PACKAGES[extra]} (the extra "{extra}" of wayleave)',
            name=package,
        ) from error


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
