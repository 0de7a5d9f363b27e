"""Reads the datasets of a Wayleave service into geopandas, pandas and files.

>>> import wayleave
>>> client = wayleave.Client(api_key="…", base_url="https://data.example.org")
>>> places = client.read("places")
"""

from wayleave._async_client import AsyncClient, AsyncItemPages
from wayleave._client import Client, ItemPages
from wayleave._credits import Credits
from wayleave._dataset import AsyncDataset, Dataset
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
    PublishError,
    RateLimitError,
    ServerError,
    TimeoutError,
    WayleaveError,
    WayleaveWarning,
)
from wayleave._http.deliver import Progress
from wayleave._models import Archive, Change, Column, Feature, Format, Job, Page, VersionChanges
from wayleave._publisher import AsyncPublisher, Publisher
from wayleave._version import __version__

__all__ = [
    "APIStatusError",
    "Archive",
    "AsyncClient",
    "AsyncDataset",
    "AsyncItemPages",
    "AsyncPublisher",
    "AuthenticationError",
    "BadRequestError",
    "Change",
    "Client",
    "Column",
    "ConflictError",
    "ConnectionError",
    "Credits",
    "Dataset",
    "Feature",
    "Format",
    "IntegrityError",
    "ItemPages",
    "Job",
    "MissingExtraError",
    "NotFoundError",
    "Page",
    "PaymentRequiredError",
    "PermissionDeniedError",
    "Progress",
    "PublishError",
    "Publisher",
    "RateLimitError",
    "ServerError",
    "TimeoutError",
    "VersionChanges",
    "WayleaveError",
    "WayleaveWarning",
    "__version__",
]
