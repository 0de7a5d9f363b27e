"""Datasets that can be read by their own methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayleave._errors import WayleaveError
from wayleave._models import Archive, Metadata
from wayleave._options import (
    AggregateOptions,
    CallOptions,
    DownloadOptions,
    DuckDBOptions,
    PageOptions,
    ReadOptions,
    TableOptions,
    takes,
)

if TYPE_CHECKING:
    import duckdb
    import geopandas as gpd
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Self, Unpack

    from wayleave._async_client import AsyncClient, AsyncItemPages
    from wayleave._client import Client, ItemPages


class _Bound(Metadata):
    """Metadata with the client that fetched it."""

    @classmethod
    def _of(cls, metadata: Metadata, client: object) -> Self:
        bound = cls(**{one.name: getattr(metadata, one.name) for one in fields(metadata)})
        object.__setattr__(bound, "_bound_client", client)
        return bound

    def __getstate__(self) -> dict[str, Any]:
        # A client holds open connections, which cannot be pickled.
        return {name: value for name, value in vars(self).items() if name != "_bound_client"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _require_client(self) -> Any:  # noqa: ANN401
        client = vars(self).get("_bound_client")
        if client is None:
            raise WayleaveError(
                f'This dataset has no client: use client["{self.table}"] or client.dataset().'
            )
        return client


class Dataset(_Bound):
    """The public description of a dataset, and the methods that read it. See those of `Client`."""

    @property
    def _client(self) -> Client:
        client: Client = self._require_client()
        return client

    @takes(ReadOptions)
    def read(self, **options: Unpack[ReadOptions]) -> gpd.GeoDataFrame:
        """See `Client.read`."""
        return self._client.read(self.table, **options)

    @takes(TableOptions)
    def read_table(self, **options: Unpack[TableOptions]) -> pd.DataFrame:
        """See `Client.read_table`."""
        return self._client.read_table(self.table, **options)

    @takes(TableOptions)
    def read_arrow(self, **options: Unpack[TableOptions]) -> pa.Table:
        """See `Client.read_arrow`."""
        return self._client.read_arrow(self.table, **options)

    @takes(TableOptions)
    def read_polars(self, **options: Unpack[TableOptions]) -> pl.DataFrame:
        """See `Client.read_polars`."""
        return self._client.read_polars(self.table, **options)

    @takes(DuckDBOptions)
    def read_duckdb(self, **options: Unpack[DuckDBOptions]) -> duckdb.DuckDBPyRelation:
        """See `Client.read_duckdb`."""
        return self._client.read_duckdb(self.table, **options)

    @takes(CallOptions)
    def sample(self, **options: Unpack[CallOptions]) -> pd.DataFrame:
        """See `Client.sample`."""
        return self._client.sample(self.table, **options)

    @takes(CallOptions)
    def archives(self, **options: Unpack[CallOptions]) -> list[Archive]:
        """See `Client.archives`."""
        return self._client.archives(self.table, **options)

    @takes(PageOptions)
    def items(self, **options: Unpack[PageOptions]) -> ItemPages:
        """See `Client.items`."""
        return self._client.items(self.table, **options)

    @takes(AggregateOptions)
    def aggregate(
        self,
        groupby: str | Sequence[str] | None = None,
        measures: str | Sequence[str] = "count",
        **options: Unpack[AggregateOptions],
    ) -> pd.DataFrame | gpd.GeoDataFrame:
        """See `Client.aggregate`."""
        return self._client.aggregate(self.table, groupby, measures, **options)

    @takes(DownloadOptions)
    def download(
        self, format: str, path: str | Path | None = None, **options: Unpack[DownloadOptions]
    ) -> Path:
        """See `Client.download`."""
        return self._client.download(self.table, format, path, **options)


class AsyncDataset(_Bound):
    """`Dataset` for asyncio and trio."""

    @property
    def _client(self) -> AsyncClient:
        client: AsyncClient = self._require_client()
        return client

    @takes(ReadOptions)
    async def read(self, **options: Unpack[ReadOptions]) -> gpd.GeoDataFrame:
        """See `Client.read`."""
        return await self._client.read(self.table, **options)

    @takes(TableOptions)
    async def read_table(self, **options: Unpack[TableOptions]) -> pd.DataFrame:
        """See `Client.read_table`."""
        return await self._client.read_table(self.table, **options)

    @takes(TableOptions)
    async def read_arrow(self, **options: Unpack[TableOptions]) -> pa.Table:
        """See `Client.read_arrow`."""
        return await self._client.read_arrow(self.table, **options)

    @takes(TableOptions)
    async def read_polars(self, **options: Unpack[TableOptions]) -> pl.DataFrame:
        """See `Client.read_polars`."""
        return await self._client.read_polars(self.table, **options)

    @takes(DuckDBOptions)
    async def read_duckdb(self, **options: Unpack[DuckDBOptions]) -> duckdb.DuckDBPyRelation:
        """See `Client.read_duckdb`."""
        return await self._client.read_duckdb(self.table, **options)

    @takes(CallOptions)
    async def sample(self, **options: Unpack[CallOptions]) -> pd.DataFrame:
        """See `Client.sample`."""
        return await self._client.sample(self.table, **options)

    @takes(CallOptions)
    async def archives(self, **options: Unpack[CallOptions]) -> list[Archive]:
        """See `Client.archives`."""
        return await self._client.archives(self.table, **options)

    @takes(PageOptions)
    def items(self, **options: Unpack[PageOptions]) -> AsyncItemPages:
        """See `Client.items`."""
        return self._client.items(self.table, **options)

    @takes(AggregateOptions)
    async def aggregate(
        self,
        groupby: str | Sequence[str] | None = None,
        measures: str | Sequence[str] = "count",
        **options: Unpack[AggregateOptions],
    ) -> pd.DataFrame | gpd.GeoDataFrame:
        """See `Client.aggregate`."""
        return await self._client.aggregate(self.table, groupby, measures, **options)

    @takes(DownloadOptions)
    async def download(
        self, format: str, path: str | Path | None = None, **options: Unpack[DownloadOptions]
    ) -> Path:
        """See `Client.download`."""
        return await self._client.download(self.table, format, path, **options)
