from __future__ import annotations

import random as random_module
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import httpx

from wayleave import _publishing as publishing
from wayleave._credits import Credits, Receipt
from wayleave._dataset import AsyncDataset
from wayleave._errors import AuthenticationError, WayleaveError
from wayleave._http import plans as plans
from wayleave._http.cache import DEFAULT_CACHE_BYTES
from wayleave._http.progress import reporter
from wayleave._http.retry import Policy
from wayleave._http.steps import (
    Compute,
    Open,
    Pause,
    Plan,
    ReadChunk,
    Response,
    Send,
    Spent,
    Step,
    Upload,
    UploadBody,
)
from wayleave._http.tls import tls_context
from wayleave._models import ARCHIVES_SHOWN, DATASETS_SHOWN, Archive, Change, Feature, Job, Page, Table
from wayleave._options import (
    AggregateOptions,
    CallOptions,
    ChangesOptions,
    DownloadOptions,
    DuckDBOptions,
    PageOptions,
    PublishOptions,
    ReadOptions,
    TableOptions,
    takes,
)
from wayleave._publisher import AsyncPublisher
from wayleave._selection import DEFAULT_PAGE, MAX_PAGE, Selection, selection_of
from wayleave._settings import DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT, Settings, settings_of
from wayleave._tables import aggregating as aggregating
from wayleave._tables import reading as reading
from wayleave._tables import updating as updating

if TYPE_CHECKING:
    import duckdb
    import geopandas as gpd
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Self, Unpack

T = TypeVar("T")


class AsyncClient:
    """`Client` for asyncio and trio: the same methods, arguments, results and errors."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        cache_dir: str | PathLike[str] | bool | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        http_client: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        """See `Client`."""
        self._settings = settings_of(api_key, base_url, timeout, max_retries, random, cache_dir, cache_bytes)
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient(verify=tls_context())
        self._sleep = sleep
        self._credits = Credits(0, None)

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

    @property
    def credits(self) -> Credits:
        """See `Client.credits`."""
        return self._credits

    @property
    def publisher(self) -> AsyncPublisher:
        """See `Client.publisher`."""
        return AsyncPublisher(self._settings, self._run)

    def clear_cache(self) -> None:
        """Remove all files from the cache."""
        if self._settings.cache is not None:
            self._settings.cache.clear()

    @takes(CallOptions)
    async def datasets(self, **options: Unpack[CallOptions]) -> list[AsyncDataset]:
        """See `Client.datasets`."""
        listed = await self._run(plans.datasets(self._settings.policy(options)))
        return Table((AsyncDataset._of(one, self) for one in listed), DATASETS_SHOWN)

    @takes(CallOptions)
    async def dataset(self, table: str, **options: Unpack[CallOptions]) -> AsyncDataset:
        """See `Client.dataset`."""
        return AsyncDataset._of(await self._run(plans.dataset(table, self._settings.policy(options))), self)

    @takes(CallOptions)
    async def archives(self, table: str, **options: Unpack[CallOptions]) -> list[Archive]:
        """See `Client.archives`."""
        return Table(await self._run(plans.archives(table, self._settings.policy(options))), ARCHIVES_SHOWN)

    @takes(CallOptions)
    async def sample(self, table: str, **options: Unpack[CallOptions]) -> pd.DataFrame:
        """See `Client.sample`."""
        return await self._run(plans.sample(self._settings, table, self._settings.policy(options)))

    @takes(ReadOptions)
    async def read(self, table: str, **options: Unpack[ReadOptions]) -> gpd.GeoDataFrame:
        """See `Client.read`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(reading.read(self._settings, table, options, report))

    @takes(TableOptions)
    async def read_table(self, table: str, **options: Unpack[TableOptions]) -> pd.DataFrame:
        """See `Client.read_table`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(reading.read_table(self._settings, table, options, report))

    @takes(TableOptions)
    async def read_arrow(self, table: str, **options: Unpack[TableOptions]) -> pa.Table:
        """See `Client.read_arrow`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(reading.read_arrow(self._settings, table, options, report))

    @takes(TableOptions)
    async def read_polars(self, table: str, **options: Unpack[TableOptions]) -> pl.DataFrame:
        """See `Client.read_polars`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(reading.read_polars(self._settings, table, options, report))

    @takes(DuckDBOptions)
    async def read_duckdb(self, table: str, **options: Unpack[DuckDBOptions]) -> duckdb.DuckDBPyRelation:
        """See `Client.read_duckdb`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(reading.read_duckdb(self._settings, table, options, report))

    @takes(DownloadOptions)
    async def download(
        self, table: str, format: str, path: str | Path | None = None, **options: Unpack[DownloadOptions]
    ) -> Path:
        """See `Client.download`."""
        target = plans.file_path(table, format, path)
        policy = self._settings.policy(options)
        with reporter(options.get("progress", False), target.name) as report:
            return await self._run(plans.download(table, format, target, options, policy, report))

    @takes(ChangesOptions)
    async def changes(self, table: str, since: int, **options: Unpack[ChangesOptions]) -> list[Change]:
        """See `Client.changes`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(updating.changes(self._settings, table, since, options, report))

    @takes(ChangesOptions)
    async def update(
        self, frame: gpd.GeoDataFrame, table: str, **options: Unpack[ChangesOptions]
    ) -> gpd.GeoDataFrame:
        """See `Client.update`."""
        with reporter(options.get("progress", False), table) as report:
            return await self._run(updating.update(self._settings, frame, table, options, report))

    @takes(PageOptions)
    def items(self, table: str, **options: Unpack[PageOptions]) -> AsyncItemPages:
        """See `Client.items`."""
        return AsyncItemPages(self, table, selection_of(options), self._settings.policy(options))

    @takes(AggregateOptions)
    async def aggregate(
        self,
        table: str,
        groupby: str | Sequence[str] | None = None,
        measures: str | Sequence[str] = "count",
        **options: Unpack[AggregateOptions],
    ) -> pd.DataFrame | gpd.GeoDataFrame:
        """See `Client.aggregate`."""
        policy = self._settings.policy(options)
        plan = aggregating.aggregate(table, groupby, measures, options, policy)
        return await self._run(plan)

    @takes(PublishOptions)
    async def publish(
        self,
        table: str,
        source: str | PathLike[str] | pd.DataFrame,
        **options: Unpack[PublishOptions],
    ) -> Job:
        """See `Client.publish`."""
        self._settings.require_key()
        with ExitStack() as stack:
            # In a thread: writing a dataframe to a file takes a while.
            opening = publishing.source_file(source, table)
            file = await anyio.to_thread.run_sync(stack.enter_context, opening)
            report = stack.enter_context(reporter(options.get("progress", False), file.name))
            return await self._run(publishing.publish(self._settings, table, file, options, report))

    @takes(CallOptions)
    async def job(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """See `Client.job`."""
        return await self._run(publishing.job(self._settings, id, self._settings.policy(options)))

    @takes(CallOptions)
    async def cancel_job(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """See `Client.cancel_job`."""
        return await self._run(publishing.cancel_job(self._settings, id, self._settings.policy(options)))

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
        except AuthenticationError as error:
            self._settings.explain_missing_key(error)
            raise
        finally:
            plan.close()
            spent = exchange.receipt.credits()
            self._credits = Credits(
                spent.charged, self._credits.remaining if spent.remaining is None else spent.remaining
            )
            # The connection is released even if the call was cancelled.
            with anyio.CancelScope(shield=True):
                await exchange.close()


class AsyncItemPages:
    """An iterator over pages of features."""

    def __init__(self, client: AsyncClient, table: str, selection: Selection, policy: Policy) -> None:
        self._client = client
        self._table = table
        self._selection = selection
        self._policy = policy
        page_size = DEFAULT_PAGE if selection.limit is None else selection.limit
        self._params: Mapping[str, str] | None = selection.params(page_size)

    def __repr__(self) -> str:
        return f"AsyncItemPages(table={self._table!r}, next={self._params})"

    def __aiter__(self) -> AsyncIterator[Page]:
        return self

    async def __anext__(self) -> Page:
        if self._params is None:
            raise StopAsyncIteration
        plan = plans.items_page(self._table, self._params, self._selection, self._policy)
        page = await self._client._run(plan)
        self._params = page.next_params
        return page

    async def features(self) -> AsyncIterator[Feature]:
        """The features of all pages, one after the other."""
        async for page in self:
            for feature in page:
                yield feature

    async def read(self) -> gpd.GeoDataFrame:
        """The features of all pages that are left as one geodataframe, like that of `AsyncClient.read`.

        Takes pages of 10,000 unless `limit` says otherwise.
        """
        params = self._params
        if params is not None and self._selection.limit is None:
            params = {**params, "limit": str(MAX_PAGE)}
        plan = reading.read_items(self._client._settings, self._table, params, self._selection, self._policy)
        frame = await self._client._run(plan)
        self._params = None
        return frame


class _Exchange:
    """Performs the steps of one plan; holds the response that is being read."""

    def __init__(
        self, http: httpx.AsyncClient, settings: Settings, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._http = http
        self._settings = settings
        self._sleep = sleep
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self.receipt = Receipt()

    async def perform(self, step: Step) -> Any:  # noqa: ANN401
        try:
            match step:
                case Send(request):
                    response = await self._http.send(self._settings.build(request, self._http))
                    return self._settings.to_response(response, response.content)
                case Open(request):
                    return await self._open(self._settings.build(request, self._http))
                case ReadChunk():
                    return b"" if self._chunks is None else await anext(self._chunks, b"")
                case Pause(seconds):
                    await self.close()
                    return await self._sleep(seconds)
                case Compute(work):
                    return await anyio.to_thread.run_sync(work)
                case Upload(request, body):
                    built = self._settings.build(request, self._http, _chunks(body))
                    response = await self._http.send(built)
                    return self._settings.to_response(response, response.content)
                case Spent():
                    return self.receipt.credits()
        except httpx.HTTPError as error:
            await self.close()
            raise self._settings.failure(error) from error

    async def _open(self, request: httpx.Request) -> Response:
        await self.close()
        response = self._response = await self._http.send(request, stream=True)
        if (redirected := self._settings.redirected(request, response, self._http)) is not None:
            self.receipt.note(self._settings.to_response(response, b"").headers)
            await self.close()
            response = self._response = await self._http.send(redirected, stream=True)
        if not response.is_success:
            return self._settings.to_response(response, await response.aread())
        self._chunks = response.aiter_raw()
        opened = self._settings.to_response(response, b"")
        self.receipt.note(opened.headers)
        return opened

    async def close(self) -> None:
        if self._response is not None:
            await self._response.aclose()
            self._response = None


async def _chunks(body: UploadBody) -> AsyncIterator[bytes]:
    offset = 0
    while chunk := await anyio.to_thread.run_sync(body.read, offset):
        yield chunk
        offset += len(chunk)
