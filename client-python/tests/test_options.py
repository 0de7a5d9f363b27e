"""Unknown arguments are errors at once: they would select nothing and cost the full price."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import httpx
import pytest

import wayleave

ARGUMENTS = {
    "dataset": ("t",),
    "archives": ("t",),
    "sample": ("t",),
    "read": ("t",),
    "read_table": ("t",),
    "read_arrow": ("t",),
    "read_polars": ("t",),
    "read_duckdb": ("t",),
    "items": ("t",),
    "download": ("t", "csv"),
    "publish": ("t", __file__),
    "job": ("j",),
}


def public_methods(kind: type) -> list[str]:
    members = inspect.getmembers(kind, callable)
    return [name for name, _ in members if not name.startswith("_")]


def every_method() -> Iterator[tuple[type, str]]:
    for kind in (
        wayleave.Client,
        wayleave.AsyncClient,
        wayleave.Dataset,
        wayleave.AsyncDataset,
        wayleave.ItemPages,
        wayleave.AsyncItemPages,
    ):
        yield from ((kind, name) for name in public_methods(kind))


@pytest.mark.parametrize(("kind", "name"), list(every_method()))
def test_an_unknown_argument_raises_type_error_before_anything_is_sent(kind: type, name: str) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError("A request was sent.")

    method = getattr(kind, name)
    arguments = ARGUMENTS.get(name, ())
    if kind in (wayleave.Dataset, wayleave.AsyncDataset):
        arguments = arguments[1:]
    with httpx.Client(transport=httpx.MockTransport(refuse)) as http:
        client = wayleave.Client("k", "http://127.0.0.1:9", http_client=http)
        with pytest.raises(TypeError, match="unexpected keyword argument 'bbbox'"):
            method(client, *arguments, bbbox=(0, 0, 1, 1))


def test_the_message_suggests_the_argument_that_was_meant() -> None:
    with wayleave.Client("k", "http://127.0.0.1:9") as client:
        for wrong, right in {"bbbox": "bbox", "colums": "columns", "properties": "columns"}.items():
            with pytest.raises(TypeError, match=f"Did you mean '{right}'"):
                client.read("places", **{wrong: 1})
        with pytest.raises(TypeError, match="It takes version, max_credits, progress, timeout, max_retries"):
            client.download("places", "csv", nonsense=1)


def test_the_signatures_show_every_argument() -> None:
    shown = inspect.signature(wayleave.Client.read).parameters
    selecting = ["bbox", "filter", "datetime", "sortby", "columns", "limit"]
    assert list(shown) == [
        *["self", "table", *selecting, "version", "progress", "format", "crs", "timeout", "max_retries"]
    ]
    assert shown["format"].default == "auto"


def test_max_retries_of_a_call_must_not_be_negative(client: wayleave.Client) -> None:
    with pytest.raises(ValueError, match="max_retries"):
        client.datasets(max_retries=-1)
