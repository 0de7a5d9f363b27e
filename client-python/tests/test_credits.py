"""What a call cost and under which license its result stands can be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from proxy import Proxy
from service import Account, Service

import wayleave
from wayleave._credits import Receipt


@pytest.fixture(scope="module")
def account(service: Service) -> Account:
    account = Account(service, "credits@example.org")
    account.grant("API_ACCESS", "GIS_ACCESS", credits=100)
    return account


def test_credits_are_readable_after_every_call(account: Account, service: Service, folder: Path) -> None:
    with wayleave.Client(account.key(), service.url) as client:
        assert client.credits == wayleave.Credits(0, None)
        places = client.read("places")
        assert client.credits == wayleave.Credits(charged=2, remaining=98)
        assert (places.attrs["credits_charged"], places.attrs["credits_remaining"]) == (2, 98)
        for free in (
            lambda: client.datasets(),
            lambda: client.sample("places"),
            lambda: client.read("places", limit=3),
            lambda: next(client.items("places")),
        ):
            free()
            assert client.credits == wayleave.Credits(charged=0, remaining=98)
        assert client.read("places").attrs["credits_charged"] == 0  # paid for within 24 hours
        with pytest.raises(wayleave.PaymentRequiredError):
            client.download("places", "csv", max_credits=1)
        client.download("places", "csv", max_credits=2)
        assert client.credits == wayleave.Credits(charged=2, remaining=96)
        table = client.read_arrow("fruit")
        assert json.loads(table.schema.metadata[b"wayleave"])["credits_charged"] == 1
        assert client.credits.remaining == 95
        with pytest.raises(wayleave.NotFoundError):
            client.download("places", "docx")
        assert client.credits == wayleave.Credits(charged=0, remaining=95)


def test_an_interrupted_download_is_counted_once(account: Account, proxy: Proxy, folder: Path) -> None:
    with wayleave.Client(account.key(), proxy.url, sleep=lambda _: None) as client:
        proxy.cuts = [150_000, 100_000]
        client.download("many", "geoparquet")
        assert len(proxy.ranges()) == 2
        assert client.credits.charged == 1


def test_a_refunded_attempt_is_not_counted_and_another_version_is() -> None:
    receipt = Receipt()
    for etag, charged, remaining in (("a", 5, 95), ("a", 5, 95), ("b", 5, 90), ("b", 0, 90)):
        receipt.note({"etag": etag, "credits-charged": str(charged), "credits-remaining": str(remaining)})
    receipt.note({"credits-charged": "nonsense"})
    assert receipt.credits() == wayleave.Credits(charged=10, remaining=90)


def test_attrs_hold_license_attribution_and_version(
    service: Service, client: wayleave.Client, folder: Path
) -> None:
    (folder / "x.csv").write_text("a\n1\n")
    service.publish("licensed", folder / "x.csv", "--license", "CC-BY-4.0", "--attribution", "The Office")
    for frame in (
        client.read_table("licensed"),
        client.read_table("licensed", limit=1),
        client.sample("licensed"),
    ):
        attrs = frame.attrs
        assert (attrs["license"], attrs["attribution"], attrs["version"]) == ("CC-BY-4.0", "The Office", 1)
        assert (attrs["table"], attrs["source"]) == ("licensed", f"{service.url}/v1/dataset/licensed")
        json.dumps(attrs)
    assert client.read("places").attrs["version"] == 2
    assert client.read("places", version=1).attrs["version"] == 1
    assert client.items("places").read().attrs["version"] == 2
    client.read("shapes").to_parquet(folder / "saved.parquet")
