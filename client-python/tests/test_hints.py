"""Misspelt names: the error suggests the right one."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from service import free_port

import wayleave
from wayleave._hints import name_hint


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.dataset("plcaes"),
        lambda client: client["plcaes"],
        lambda client: client.sample("plcaes"),
        lambda client: client.archives("plcaes"),
        lambda client: client.read("plcaes"),
        lambda client: client.read("plcaes", limit=1),
        lambda client: client.read_table("plcaes"),
        lambda client: client.read_arrow("plcaes"),
        lambda client: client.download("plcaes", "csv"),
        lambda client: next(client.items("plcaes")),
        lambda client: client.items("plcaes").read(),
    ],
)
def test_the_error_for_a_misspelt_table_suggests_the_table(
    client: wayleave.Client, folder: Path, call
) -> None:
    with pytest.raises(wayleave.NotFoundError, match='Did you mean "places"') as caught:
        call(client)
    assert caught.value.hint == 'Did you mean "places"?'
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.hint, str(copy)) == (caught.value.hint, str(caught.value))


@pytest.mark.parametrize(
    "selection",
    [
        {"columns": ["populaton"]},
        {"sortby": "-populaton"},
        {"sortby": ["name", "-populaton"]},
        {"filter": "populaton > 5"},
        {"filter": "name = 'x' AND Popu_lation > 5"},
        {"filter": {"op": ">", "args": [{"property": "populaton"}, 5]}},
    ],
)
def test_the_error_for_a_misspelt_column_suggests_the_column(
    client: wayleave.Client, selection: dict
) -> None:
    for call in (client.read, client.read_table, lambda *a, **k: next(client.items(*a, **k))):
        with pytest.raises(wayleave.BadRequestError, match='Did you mean "population"') as caught:
            call("places", **selection)
        assert caught.value.status == 400


def test_without_a_similar_name_the_names_are_listed(client: wayleave.Client, folder: Path) -> None:
    with pytest.raises(wayleave.NotFoundError, match=r"The datasets are .*places"):
        client.read("zzzzzz")
    with pytest.raises(wayleave.BadRequestError, match="The columns are number, name"):
        client.read("many", columns=["zzzzzz"])
    with pytest.raises(wayleave.NotFoundError, match='Did you mean "geojson"'):
        client.download("places", "geojosn")
    with pytest.raises(wayleave.NotFoundError, match="The versions are 2, 1"):
        client.download("places", "csv", version=7)
    assert name_hint("x", [], "datasets") == "There are no datasets."
    assert name_hint("zz", [f"a{i}" for i in range(30)], "columns").endswith("a19 and 10 more.")


def test_other_errors_get_no_hint(client: wayleave.Client, key: str) -> None:
    with pytest.raises(wayleave.BadRequestError) as caught:
        client.read("many", filter="number <")
    assert caught.value.hint == ""
    with (
        wayleave.Client(key, f"http://127.0.0.1:{free_port()}", max_retries=0) as away,
        pytest.raises(wayleave.ConnectionError),
    ):
        away.read("places")
