"""What publishers do besides publishing files, for both clients."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from wayleave import _managing as managing
from wayleave._http.steps import Plan
from wayleave._options import CallOptions, PublishOptions, SourceOptions, takes
from wayleave._publishing import source_file
from wayleave._settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

T = TypeVar("T")
Record = Mapping[str, Any]


def _ignore(_sent: int, _total: int | None) -> None:
    """Nobody watches the upload."""


class Publisher:
    """Look at files, fix schemas, release drafts, roll back and set sources. Needs a key with `write`."""

    def __init__(self, settings: Settings, run: Callable[[Plan[Any]], Any]) -> None:
        self._settings = settings
        self._run = run

    @takes(PublishOptions)
    def inspect(
        self, source: str | PathLike[str] | pd.DataFrame, **options: Unpack[PublishOptions]
    ) -> Record:
        """What a file contains, and what publishing it with these options would do. Nothing is published."""
        with source_file(source, "inspected") as file:
            return self._call(managing.inspect(self._settings, file, options, _ignore))

    @takes(CallOptions)
    def schema(self, table: str, **options: Unpack[CallOptions]) -> Record:
        """What is fixed about the columns of a dataset."""
        return self._read(table, "schema", options)

    @takes(CallOptions)
    def set_schema(self, table: str, schema: Record, **options: Unpack[CallOptions]) -> None:
        """Fix the columns of a dataset, for its next version."""
        self._write("PUT", table, "schema", options, schema)

    @takes(CallOptions)
    def release(self, table: str, **options: Unpack[CallOptions]) -> int:
        """Make the draft of a dataset its current version. Returns its number."""
        return int(self._write("POST", table, "release", options, {})["version"])

    @takes(CallOptions)
    def roll_back(self, table: str, version: int, **options: Unpack[CallOptions]) -> int:
        """Make a new version with the data of an earlier one. Returns its number."""
        return int(self._write("POST", table, "rollback", options, {"version": version})["version"])

    @takes(CallOptions)
    def source(self, table: str, **options: Unpack[CallOptions]) -> Record:
        """The address that a dataset is refreshed from, when it is due, and its last run."""
        return self._read(table, "source", options)

    @takes(SourceOptions)
    def set_source(self, table: str, address: str, **options: Unpack[SourceOptions]) -> Record:
        """Refresh a dataset from an address."""
        return self._write("PUT", table, "source", options, managing.source_body(address, options))

    @takes(CallOptions)
    def run_source(self, table: str, **options: Unpack[CallOptions]) -> str:
        """Refresh a dataset from its source now. Returns the id of the job, for `Client.job`."""
        return str(self._write("POST", table, "source/run", options)["id"])

    @takes(CallOptions)
    def remove_source(self, table: str, **options: Unpack[CallOptions]) -> None:
        """Refresh a dataset no more. The dataset stays."""
        self._write("DELETE", table, "source", options)

    def _read(self, table: str, what: str, options: CallOptions) -> Record:
        return self._call(managing.read(self._settings, table, what, self._settings.policy(options)))

    def _write(
        self, method: str, table: str, what: str, options: CallOptions, body: Record | None = None
    ) -> Record:
        policy = self._settings.policy(options)
        return self._call(managing.write(self._settings, method, table, what, policy, body))

    def _call(self, plan: Plan[T]) -> T:
        result: T = self._run(plan)
        return result


class AsyncPublisher:
    """`Publisher` for asyncio and trio: the same methods, arguments, results and errors."""

    def __init__(self, settings: Settings, run: Callable[[Plan[Any]], Awaitable[Any]]) -> None:
        self._settings = settings
        self._run = run

    @takes(PublishOptions)
    async def inspect(
        self, source: str | PathLike[str] | pd.DataFrame, **options: Unpack[PublishOptions]
    ) -> Record:
        """See `Publisher.inspect`."""
        with ExitStack() as stack:
            opening = source_file(source, "inspected")
            file = await anyio.to_thread.run_sync(stack.enter_context, opening)
            return await self._call(managing.inspect(self._settings, file, options, _ignore))

    @takes(CallOptions)
    async def schema(self, table: str, **options: Unpack[CallOptions]) -> Record:
        """See `Publisher.schema`."""
        return await self._read(table, "schema", options)

    @takes(CallOptions)
    async def set_schema(self, table: str, schema: Record, **options: Unpack[CallOptions]) -> None:
        """See `Publisher.set_schema`."""
        await self._write("PUT", table, "schema", options, schema)

    @takes(CallOptions)
    async def release(self, table: str, **options: Unpack[CallOptions]) -> int:
        """See `Publisher.release`."""
        return int((await self._write("POST", table, "release", options, {}))["version"])

    @takes(CallOptions)
    async def roll_back(self, table: str, version: int, **options: Unpack[CallOptions]) -> int:
        """See `Publisher.roll_back`."""
        return int((await self._write("POST", table, "rollback", options, {"version": version}))["version"])

    @takes(CallOptions)
    async def source(self, table: str, **options: Unpack[CallOptions]) -> Record:
        """See `Publisher.source`."""
        return await self._read(table, "source", options)

    @takes(SourceOptions)
    async def set_source(self, table: str, address: str, **options: Unpack[SourceOptions]) -> Record:
        """See `Publisher.set_source`."""
        return await self._write("PUT", table, "source", options, managing.source_body(address, options))

    @takes(CallOptions)
    async def run_source(self, table: str, **options: Unpack[CallOptions]) -> str:
        """See `Publisher.run_source`."""
        return str((await self._write("POST", table, "source/run", options))["id"])

    @takes(CallOptions)
    async def remove_source(self, table: str, **options: Unpack[CallOptions]) -> None:
        """See `Publisher.remove_source`."""
        await self._write("DELETE", table, "source", options)

    async def _read(self, table: str, what: str, options: CallOptions) -> Record:
        return await self._call(managing.read(self._settings, table, what, self._settings.policy(options)))

    async def _write(
        self, method: str, table: str, what: str, options: CallOptions, body: Record | None = None
    ) -> Record:
        policy = self._settings.policy(options)
        return await self._call(managing.write(self._settings, method, table, what, policy, body))

    async def _call(self, plan: Plan[T]) -> T:
        result: T = await self._run(plan)
        return result
