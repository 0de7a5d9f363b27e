from __future__ import annotations

import random as random_module
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
import anyio.to_thread
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


class AsyncClient:
    """`Client` for asyncio and trio: the same verbs, arguments, results and errors."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        """See `Client`."""
        self._settings = settings_of(api_key, base_url, timeout, max_retries, random)
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient()
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"AsyncClient(base_url={self._settings.shown_url()!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def datasets(self, **options: Unpack[CallOptions]) -> list[Dataset]:
        """See `Client.datasets`."""
        return await self._run(plans.datasets(self._settings.policy(options)))

    async def dataset(self, table: str, **options: Unpack[CallOptions]) -> Dataset:
        """See `Client.dataset`."""
        return await self._run(plans.dataset(table, self._settings.policy(options)))

    async def archives(self, table: str, **options: Unpack[CallOptions]) -> list[Archive]:
        """See `Client.archives`."""
        return await self._run(plans.archives(table, self._settings.policy(options)))

    async def sample(self, table: str, **options: Unpack[CallOptions]) -> pd.DataFrame:
        """See `Client.sample`."""
        return await self._run(plans.sample(table, self._settings.policy(options)))

    async def read(
        self,
        table: str,
        *,
        format: Literal["auto", "geojson", "geoparquet"] = "auto",
        version: int | None = None,
        progress: bool | Progress = False,
        **options: Unpack[CallOptions],
    ) -> gpd.GeoDataFrame:
        """See `Client.read`."""
        with reporter(progress, table) as report:
            return await self._run(plans.read(table, format, version, self._settings.policy(options), report))

    async def read_table(
        self,
        table: str,
        *,
        version: int | None = None,
        progress: bool | Progress = False,
        **options: Unpack[CallOptions],
    ) -> pd.DataFrame:
        """See `Client.read_table`."""
        with reporter(progress, table) as report:
            return await self._run(plans.read_table(table, version, self._settings.policy(options), report))

    async def download(
        self,
        table: str,
        format: str,
        path: str | Path | None = None,
        *,
        version: int | None = None,
        progress: bool | Progress = False,
        **options: Unpack[CallOptions],
    ) -> Path:
        """See `Client.download`."""
        target = plans.file_path(table, format, path)
        with reporter(progress, target.name) as report:
            return await self._run(
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
    ) -> AsyncItemPages:
        """See `Client.items`."""
        params = plans.items_params(limit, bbox, filter, datetime, sortby, properties)
        return AsyncItemPages(self, table, params, self._settings.policy(options))

    async def _run(self, plan: Plan[T]) -> T:
        exchange = _Exchange(self._http, self._settings, self._sleep)
        try:
            step = next(plan)
            while True:
                try:
                    result = await exchange.perform(step)
                except WayleaveError as error:
                    step = plan.throw(error)
                else:
                    step = plan.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            plan.close()
            # A cancelled call gives its connection back too.
            with anyio.CancelScope(shield=True):
                await exchange.close()


class AsyncItemPages:
    """An iterator over pages of features."""

    def __init__(self, client: AsyncClient, table: str, params: Mapping[str, str], policy: Policy) -> None:
        self._client = client
        self._table = table
        self._params: Mapping[str, str] | None = params
        self._policy = policy

    def __aiter__(self) -> AsyncIterator[Page]:
        return self

    async def __anext__(self) -> Page:
        if self._params is None:
            raise StopAsyncIteration
        page = await self._client._run(plans.items_page(self._table, self._params, self._policy))
        self._params = page.next_params
        return page

    async def features(self) -> AsyncIterator[Feature]:
        """The features of all pages, one after the other."""
        async for page in self:
            for feature in page:
                yield feature

    async def read(self) -> gpd.GeoDataFrame:
        """The features of all pages as one geodataframe, typed as by `AsyncClient.read`."""
        return await self._client._run(plans.read_items(self._table, self._params, self._policy))


class _Exchange:
    """Performs the steps of one plan; holds the one answer that is being read."""

    def __init__(
        self, http: httpx.AsyncClient, settings: Settings, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._http = http
        self._settings = settings
        self._sleep = sleep
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def perform(self, step: Step) -> Any:  # noqa: ANN401
        try:
            match step:
                case Send(request):
                    response = await self._http.send(self._settings.build(request, self._http))
                    return self._settings.answer(response, response.content)
                case Open(request):
                    return await self._open(self._settings.build(request, self._http))
                case ReadChunk():
                    return b"" if self._chunks is None else await anext(self._chunks, b"")
                case Pause(seconds):
                    await self.close()
                    return await self._sleep(seconds)
                case Compute(work):
                    return await anyio.to_thread.run_sync(work)
        except httpx.HTTPError as error:
            await self.close()
            raise self._settings.failure(error) from error

    async def _open(self, request: httpx.Request) -> Answer:
        await self.close()
        response = self._response = await self._http.send(request, stream=True)
        if response.is_success:
            self._chunks = response.aiter_raw()
            return self._settings.answer(response, b"")
        return self._settings.answer(response, await response.aread())

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()
            self._response = None
