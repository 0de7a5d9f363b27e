from __future__ import annotations

import random as random_module
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import httpx

from wayleave import _plans as plans
from wayleave._deliver import Progress
from wayleave._errors import WayleaveError
from wayleave._progress import reporter
from wayleave._retry import Policy
from wayleave._settings import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT, CallOptions, Settings, settings_of
from wayleave._steps import Answer, Compute, Open, Pause, Plan, ReadChunk, Send, Step

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd
    from typing_extensions import Self, Unpack

    from wayleave._models import Archive, Dataset, Feature, Page

T = TypeVar("T")


class Client:
    """Reads the datasets of a Wayleave service. Safe to share between threads.

    Every verb takes `timeout` and `max_retries` for this one call.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        """`api_key` and `base_url` default to `WAYLEAVE_API_KEY` and `WAYLEAVE_BASE_URL`.

        `http_client` is for proxies, certificates and the like; the caller closes it.
        """
        self._settings = settings_of(api_key, base_url, timeout, max_retries, random)
        self._owns_http = http_client is None
        self._http = http_client or httpx.Client()
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"Client(base_url={self._settings.shown_url()!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            self._http.close()

    def datasets(self, **options: Unpack[CallOptions]) -> list[Dataset]:
        """All datasets of the service."""
        return self._run(plans.datasets(self._settings.policy(options)))

    def dataset(self, table: str, **options: Unpack[CallOptions]) -> Dataset:
        """What there is to know of a dataset: its columns, size, version, price and formats."""
        return self._run(plans.dataset(table, self._settings.policy(options)))

    def archives(self, table: str, **options: Unpack[CallOptions]) -> list[Archive]:
        """All versions of a dataset, the newest first; `version=` of the other verbs takes their number."""
        return self._run(plans.archives(table, self._settings.policy(options)))

    def sample(self, table: str, **options: Unpack[CallOptions]) -> pd.DataFrame:
        """A few rows of a dataset, free of charge, in the shape of `read_table`."""
        return self._run(plans.sample(table, self._settings.policy(options)))

    def read(
        self,
        table: str,
        *,
        format: Literal["auto", "geojson", "geoparquet"] = "auto",
        version: int | None = None,
        progress: bool | Progress = False,
        **options: Unpack[CallOptions],
    ) -> gpd.GeoDataFrame:
        """A whole dataset as a geodataframe in EPSG:4326. Costs the dataset's credits.

        The result is the same by either format; "auto" takes geoparquet where pyarrow is installed.
        """
        with reporter(progress, table) as report:
            return self._run(plans.read(table, format, version, self._settings.policy(options), report))

    def read_table(
        self,
        table: str,
        *,
        version: int | None = None,
        progress: bool | Progress = False,
        **options: Unpack[CallOptions],
    ) -> pd.DataFrame:
        """A whole dataset as a dataframe: its columns, then `longitude` and `latitude` in WGS84.

        For shapes other than points these are a point on the shape. Costs the dataset's credits.
        """
        with reporter(progress, table) as report:
            return self._run(plans.read_table(table, version, self._settings.policy(options), report))

    def download(
        self,
        table: str,
        format: str,
        path: str | Path | None = None,
        *,
        version: int | None = None,
        progress: bool | Progress = False,
        **options: Unpack[CallOptions],
    ) -> Path:
        """A whole dataset as a file. Costs the dataset's credits.

        Goes to `path`, into the folder `path`, or without it into the working folder. Until the file is
        whole it stands beside as `.part`; a download that broke off goes on from there, in this call or in
        a later one.
        """
        target = plans.file_path(table, format, path)
        with reporter(progress, target.name) as report:
            return self._run(
                plans.download(table, format, target, version, self._settings.policy(options), report)
            )

    def items(
        self,
        table: str,
        *,
        limit: int | None = None,
        bbox: Sequence[float] | None = None,
        filter: str | Mapping[str, Any] | None = None,
        datetime: str | None = None,
        sortby: str | Sequence[str] | None = None,
        properties: Sequence[str] | None = None,
        **options: Unpack[CallOptions],
    ) -> ItemPages:
        """Features by page: `limit` is the size of a page, not of the whole.

        `bbox` is west, south, east, north; `filter` is CQL2, as text or as JSON; `sortby` names columns, with
        `-` for descending; `properties` names the columns wanted.
        """
        params = plans.items_params(limit, bbox, filter, datetime, sortby, properties)
        return ItemPages(self, table, params, self._settings.policy(options))

    def _run(self, plan: Plan[T]) -> T:
        exchange = _Exchange(self._http, self._settings, self._sleep)
        try:
            step = next(plan)
            while True:
                try:
                    result = exchange.perform(step)
                except WayleaveError as error:
                    step = plan.throw(error)
                else:
                    step = plan.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            plan.close()
            exchange.close()


class ItemPages:
    """An iterator over pages of features."""

    def __init__(self, client: Client, table: str, params: Mapping[str, str], policy: Policy) -> None:
        self._client = client
        self._table = table
        self._params: Mapping[str, str] | None = params
        self._policy = policy

    def __iter__(self) -> Iterator[Page]:
        return self

    def __next__(self) -> Page:
        if self._params is None:
            raise StopIteration
        page = self._client._run(plans.items_page(self._table, self._params, self._policy))
        self._params = page.next_params
        return page

    def features(self) -> Iterator[Feature]:
        """The features of all pages, one after the other."""
        for page in self:
            yield from page

    def read(self) -> gpd.GeoDataFrame:
        """The features of all pages as one geodataframe, typed as by `Client.read`."""
        return self._client._run(plans.read_items(self._table, self._params, self._policy))


class _Exchange:
    """Performs the steps of one plan; holds the one answer that is being read."""

    def __init__(self, http: httpx.Client, settings: Settings, sleep: Callable[[float], None]) -> None:
        self._http = http
        self._settings = settings
        self._sleep = sleep
        self._response: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def perform(self, step: Step) -> Any:  # noqa: ANN401
        try:
            match step:
                case Send(request):
                    response = self._http.send(self._settings.build(request, self._http))
                    return self._settings.answer(response, response.content)
                case Open(request):
                    return self._open(self._settings.build(request, self._http))
                case ReadChunk():
                    return next(self._chunks, b"")
                case Pause(seconds):
                    self.close()
                    return self._sleep(seconds)
                case Compute(work):
                    return work()
        except httpx.HTTPError as error:
            self.close()
            raise self._settings.failure(error) from error

    def _open(self, request: httpx.Request) -> Answer:
        self.close()
        response = self._response = self._http.send(request, stream=True)
        if response.is_success:
            self._chunks = response.iter_raw()
            return self._settings.answer(response, b"")
        return self._settings.answer(response, response.read())

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None
