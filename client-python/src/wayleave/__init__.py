"""Reads the datasets of a Wayleave service into geopandas, pandas and files.

>>> import wayleave
>>> client = wayleave.Client(api_key="…", base_url="https://data.example.org")
>>> places = client.read("places")
"""

from wayleave._async_client import AsyncClient, AsyncItemPages
from wayleave._client import Client, ItemPages
from wayleave._deliver import Progress
from wayleave._errors import (
    APIStatusError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionError,
    IntegrityError,
    MissingExtraError,
    NotFoundError,
    PaymentRequiredError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TimeoutError,
    WayleaveError,
)
from wayleave._models import Archive, Column, Dataset, Feature, Format, Page
from wayleave._version import __version__

__all__ = [
    "APIStatusError",
    "Archive",
    "AsyncClient",
    "AsyncItemPages",
    "AuthenticationError",
    "BadRequestError",
    "Client",
    "Column",
    "ConflictError",
    "ConnectionError",
    "Dataset",
    "Feature",
    "Format",
    "IntegrityError",
    "ItemPages",
    "MissingExtraError",
    "NotFoundError",
    "Page",
    "PaymentRequiredError",
    "PermissionDeniedError",
    "Progress",
    "RateLimitError",
    "ServerError",
    "TimeoutError",
    "WayleaveError",
    "__version__",
]
