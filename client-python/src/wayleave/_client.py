from __future__ import annotations

import random as random_module
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from wayleave import _publishing as publishing
from wayleave._credits import Credits, Receipt
from wayleave._dataset import Dataset
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
from wayleave._publisher import Publisher
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


class Client:
    """Reads the datasets of a Wayleave service. Safe to share between threads.

    Every method takes `timeout` and `max_retries` for this one call, and rejects unknown arguments.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES,
        cache_dir: str | PathLike[str] | bool | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random_module.random,
    ) -> None:
        """`api_key` and `base_url` default to `WAYLEAVE_API_KEY` and `WAYLEAVE_BASE_URL`.

        Without a key, datasets can be listed and sampled, and open ones read. `cache_dir` is a folder for
        whole files that were read (True: this user's usual cache folder; default: `WAYLEAVE_CACHE_DIR`, else
        no cache); `cache_bytes` is its max size. `http_client` is for proxies, certificates and the like; the
        caller closes it.
        """
        self._settings = settings_of(api_key, base_url, timeout, max_retries, random, cache_dir, cache_bytes)
        self._owns_http = http_client is None
        self._http = http_client or httpx.Client(verify=tls_context())
        self._sleep = sleep
        self._credits = Credits(0, None)

    def __repr__(self) -> str:
        return f"Client(base_url={self._settings.shown_url()!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, table: str) -> Dataset:
        return self.dataset(table)

    def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            self._http.close()

    @property
    def credits(self) -> Credits:
        """What the last call was charged, and the balance that the service told last.

        If several threads share the client, use the `attrs` of each result instead.
        """
        return self._credits

    @property
    def publisher(self) -> Publisher:
        """What publishers do besides `publish`: inspect, schemas, drafts, roll backs and sources."""
        return Publisher(self._settings, self._run)

    def clear_cache(self) -> None:
        """Remove all files from the cache."""
        if self._settings.cache is not None:
            self._settings.cache.clear()

    @takes(CallOptions)
    def datasets(self, **options: Unpack[CallOptions]) -> list[Dataset]:
        """All datasets of the service. Needs no key, and costs nothing."""
        listed = self._run(plans.datasets(self._settings.policy(options)))
        return Table((Dataset._of(one, self) for one in listed), DATASETS_SHOWN)

    @takes(CallOptions)
    def dataset(self, table: str, **options: Unpack[CallOptions]) -> Dataset:
        """The description of a dataset, with methods that read it. Needs no key, and costs nothing."""
        return Dataset._of(self._run(plans.dataset(table, self._settings.policy(options))), self)

    @takes(CallOptions)
    def archives(self, table: str, **options: Unpack[CallOptions]) -> list[Archive]:
        """All versions of a dataset, newest first; `version=` of other methods takes their number."""
        return Table(self._run(plans.archives(table, self._settings.policy(options))), ARCHIVES_SHOWN)

    @takes(CallOptions)
    def sample(self, table: str, **options: Unpack[CallOptions]) -> pd.DataFrame:
        """A few rows of a dataset, in the shape of `read_table`. Needs no key, and costs nothing."""
        return self._run(plans.sample(self._settings, table, self._settings.policy(options)))

    @takes(ReadOptions)
    def read(self, table: str, **options: Unpack[ReadOptions]) -> gpd.GeoDataFrame:
        """A dataset, or a part of it, as a geodataframe in EPSG:4326, or in `crs`.

        Without a selection it reads the whole file; this needs API_ACCESS, costs the dataset's price,
        and takes geoparquet if pyarrow is installed, else geojson. With `bbox`, `filter`, `datetime`,
        `sortby`, `columns` or `limit` it reads pages of 10,000 features, or many rows as one file if that is
        free; this needs GIS_ACCESS and costs nothing.

        `bbox` is west, south, east, north in degrees of WGS84; `filter` is CQL2 as text or JSON; `sortby`
        names columns, with `-` for descending; `limit` is the max number of rows. The features' ids are in
        the column `id`.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(reading.read(self._settings, table, options, report))

    @takes(TableOptions)
    def read_table(self, table: str, **options: Unpack[TableOptions]) -> pd.DataFrame:
        """A dataset, or a part of it, as a dataframe with `longitude` and `latitude` in WGS84.

        For shapes other than points these are a point on the shape. Takes the selection of `read`, and costs
        the same.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(reading.read_table(self._settings, table, options, report))

    @takes(TableOptions)
    def read_arrow(self, table: str, **options: Unpack[TableOptions]) -> pa.Table:
        """A dataset, or a part of it, as an Arrow table with geometries as WKB (geoarrow.wkb).

        Takes the selection of `read`, and costs the same.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(reading.read_arrow(self._settings, table, options, report))

    @takes(TableOptions)
    def read_polars(self, table: str, **options: Unpack[TableOptions]) -> pl.DataFrame:
        """A dataset, or a part of it, as a Polars frame with geometries as WKB.

        Takes the selection of `read`, and costs the same.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(reading.read_polars(self._settings, table, options, report))

    @takes(DuckDBOptions)
    def read_duckdb(self, table: str, **options: Unpack[DuckDBOptions]) -> duckdb.DuckDBPyRelation:
        """A dataset, or a part of it, as a DuckDB relation with geometries as GEOMETRY.

        Takes the selection of `read`, and costs the same.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(reading.read_duckdb(self._settings, table, options, report))

    @takes(DownloadOptions)
    def download(
        self, table: str, format: str, path: str | Path | None = None, **options: Unpack[DownloadOptions]
    ) -> Path:
        """A whole dataset as a file. Costs the dataset's price, and needs the add-on API_ACCESS.

        Goes to `path`, into the folder `path`, or without it into the working folder. Until the file is
        complete it is named `.part`; an interrupted download continues from there, in this call or in a later
        one.
        """
        target = plans.file_path(table, format, path)
        policy = self._settings.policy(options)
        with reporter(options.get("progress", False), target.name) as report:
            return self._run(plans.download(table, format, target, options, policy, report))

    @takes(ChangesOptions)
    def changes(self, table: str, since: int, **options: Unpack[ChangesOptions]) -> list[Change]:
        """The features that were added, removed and changed since a version.

        Costs the dataset's price once, however many versions have followed. Needs ARCHIVED_DATA, or only
        API_ACCESS if the organization has bought a file of the version `since`.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(updating.changes(self._settings, table, since, options, report))

    @takes(ChangesOptions)
    def update(
        self, frame: gpd.GeoDataFrame, table: str, **options: Unpack[ChangesOptions]
    ) -> gpd.GeoDataFrame:
        """A geodataframe of `read(table)`, brought up to date by the changes since its version.

        The frame must have all rows and columns of its version. Rows that have not changed keep their order;
        added and changed ones follow. Costs what `changes` costs; nothing if the frame is current.
        """
        with reporter(options.get("progress", False), table) as report:
            return self._run(updating.update(self._settings, frame, table, options, report))

    @takes(PageOptions)
    def items(self, table: str, **options: Unpack[PageOptions]) -> ItemPages:
        """Features by page: `limit` is the size of a page (1,000), not the total.

        Needs GIS_ACCESS and costs nothing. `bbox` is west, south, east, north in degrees of WGS84; `filter`
        is CQL2, as text or JSON; `sortby` names columns, with `-` for descending; `columns` names the columns
        to fetch. With `count="exact"` the pages always have `number_matched`, with `count="none"` never.
        """
        return ItemPages(self, table, selection_of(options), self._settings.policy(options))

    @takes(AggregateOptions)
    def aggregate(
        self,
        table: str,
        groupby: str | Sequence[str] | None = None,
        measures: str | Sequence[str] = "count",
        **options: Unpack[AggregateOptions],
    ) -> pd.DataFrame | gpd.GeoDataFrame:
        """Groups of the features that match, with measures of each group, as a dataframe.

        `groupby` has up to three of: a column, `interval(population,1000)`, `quantile(population,4)`,
        `year(time)`, `month(time)` and the like, `tile(6)`, `h3(4)`, `within(countries)`. `measures` are
        `count`, `sum(population)`, `mean(…)`, `min`, `max`, `median`, `percentile(population,95)`, `stddev`,
        `distinct`, `first`, `last`, `area` and `length`. With `geometry=True` the result is a geodataframe of
        the cells or areas. Needs GIS_ACCESS and costs nothing.
        """
        policy = self._settings.policy(options)
        plan = aggregating.aggregate(table, groupby, measures, options, policy)
        return self._run(plan)

    @takes(PublishOptions)
    def publish(
        self,
        table: str,
        source: str | PathLike[str] | pd.DataFrame,
        **options: Unpack[PublishOptions],
    ) -> Job:
        """Publish a file, or a dataframe, as the new version of a dataset. Needs a platform key with `write`.

        Returns the finished job, whose `report` tells what was published; raises PublishError if the file
        cannot be published. With `wait=False` it returns as soon as the file is uploaded; `job` tells how far
        it is.
        """
        self._settings.require_key()
        with (
            publishing.source_file(source, table) as file,
            reporter(options.get("progress", False), file.name) as report,
        ):
            return self._run(publishing.publish(self._settings, table, file, options, report))

    @takes(CallOptions)
    def job(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """How far a publishing is."""
        return self._run(publishing.job(self._settings, id, self._settings.policy(options)))

    @takes(CallOptions)
    def cancel_job(self, id: str, **options: Unpack[CallOptions]) -> Job:
        """Cancels a publishing that has not ended: nothing of it is published."""
        return self._run(publishing.cancel_job(self._settings, id, self._settings.policy(options)))

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
        except AuthenticationError as error:
            self._settings.explain_missing_key(error)
            raise
        finally:
            plan.close()
            spent = exchange.receipt.credits()
            self._credits = Credits(
                spent.charged, self._credits.remaining if spent.remaining is None else spent.remaining
            )
            exchange.close()


class ItemPages:
    """An iterator over pages of features."""

    def __init__(self, client: Client, table: str, selection: Selection, policy: Policy) -> None:
        self._client = client
        self._table = table
        self._selection = selection
        self._policy = policy
        page_size = DEFAULT_PAGE if selection.limit is None else selection.limit
        self._params: Mapping[str, str] | None = selection.params(page_size)

    def __repr__(self) -> str:
        return f"ItemPages(table={self._table!r}, next={self._params})"

    def __iter__(self) -> Iterator[Page]:
        return self

    def __next__(self) -> Page:
        if self._params is None:
            raise StopIteration
        plan = plans.items_page(self._table, self._params, self._selection, self._policy)
        page = self._client._run(plan)
        self._params = page.next_params
        return page

    def features(self) -> Iterator[Feature]:
        """The features of all pages, one after the other."""
        for page in self:
            yield from page

    def read(self) -> gpd.GeoDataFrame:
        """The features of all pages that are left as one geodataframe, like that of `Client.read`.

        Takes pages of 10,000 unless `limit` says otherwise.
        """
        params = self._params
        if params is not None and self._selection.limit is None:
            params = {**params, "limit": str(MAX_PAGE)}
        plan = reading.read_items(self._client._settings, self._table, params, self._selection, self._policy)
        frame = self._client._run(plan)
        self._params = None
        return frame


class _Exchange:
    """Performs the steps of one plan; holds the response that is being read."""

    def __init__(self, http: httpx.Client, settings: Settings, sleep: Callable[[float], None]) -> None:
        self._http = http
        self._settings = settings
        self._sleep = sleep
        self._response: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())
        self.receipt = Receipt()

    def perform(self, step: Step) -> Any:  # noqa: ANN401
        try:
            match step:
                case Send(request):
                    response = self._http.send(self._settings.build(request, self._http))
                    return self._settings.to_response(response, response.content)
                case Open(request):
                    return self._open(self._settings.build(request, self._http))
                case ReadChunk():
                    return next(self._chunks, b"")
                case Pause(seconds):
                    self.close()
                    return self._sleep(seconds)
                case Compute(work):
                    return work()
                case Upload(request, body):
                    response = self._http.send(self._settings.build(request, self._http, _chunks(body)))
                    return self._settings.to_response(response, response.content)
                case Spent():
                    return self.receipt.credits()
        except httpx.HTTPError as error:
            self.close()
            raise self._settings.failure(error) from error

    def _open(self, request: httpx.Request) -> Response:
        self.close()
        response = self._response = self._http.send(request, stream=True)
        if (redirected := self._settings.redirected(request, response, self._http)) is not None:
            self.receipt.note(self._settings.to_response(response, b"").headers)
            self.close()
            response = self._response = self._http.send(redirected, stream=True)
        if not response.is_success:
            return self._settings.to_response(response, response.read())
        self._chunks = response.iter_raw()
        opened = self._settings.to_response(response, b"")
        self.receipt.note(opened.headers)
        return opened

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None


def _chunks(body: UploadBody) -> Iterator[bytes]:
    offset = 0
    while chunk := body.read(offset):
        yield chunk
        offset += len(chunk)
