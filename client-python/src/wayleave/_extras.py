from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from wayleave._errors import MissingExtraError


def need(module: str, extra: str, purpose: str) -> Any:  # noqa: ANN401
    """The module, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f'{purpose} needs {module}, which is not installed. Run: pip install "wayleave[{extra}]"',
            name=module,
        ) from error


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
