"""What happens when the network or the service fails in the middle."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import anyio
import data
import httpx
import pytest
from conftest import MANY
from proxy import Proxy
from service import Commands, Service

import wayleave
from wayleave._http.retry import Policy, seconds_of_retry_after


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def fragile(proxy: Proxy, key: str, waits: list[float]) -> Iterator[wayleave.Client]:
    """A client behind the proxy that notes its pauses instead of waiting them out."""
    with wayleave.Client(key, proxy.url, sleep=waits.append, random=lambda: 1.0) as client:
        yield client


@pytest.mark.parametrize("format", ["geoparquet", "geojson"])
def test_a_download_cut_in_the_middle_is_resumed(
    client: wayleave.Client, fragile: wayleave.Client, proxy: Proxy, folder: Path, format: str
) -> None:
    whole = client.download("many", format, "whole").read_bytes()
    proxy.cuts = [150_000, 100_000]
    seen: list[int] = []
    path = fragile.download("many", format, "resumed", progress=lambda received, _: seen.append(received))
    assert path.read_bytes() == whole
    first, second = (int(line.removeprefix("bytes=").removesuffix("-")) for line in proxy.ranges())
    assert 100_000 < first < 150_000
    assert first < second < 250_000
    assert seen == sorted(seen)
    assert sorted(folder.iterdir()) == [folder / "resumed", folder / "whole"]


def test_a_download_goes_on_in_the_next_run(
    client: wayleave.Client, fragile: wayleave.Client, proxy: Proxy, folder: Path
) -> None:
    whole = client.download("many", "geojson", "whole").read_bytes()
    proxy.cuts = [150_000]
    with pytest.raises(wayleave.ConnectionError):
        fragile.download("many", "geojson", "later.geojson", max_retries=0)
    assert not (folder / "later.geojson").exists()
    part = (folder / "later.geojson.part").stat().st_size
    assert 100_000 < part < 150_000
    assert fragile.download("many", "geojson", "later.geojson").read_bytes() == whole
    assert proxy.ranges() == [f"bytes={part}-"]
    assert sorted(folder.iterdir()) == [folder / "later.geojson", folder / "whole"]


def test_a_part_of_another_version_is_thrown_away(
    service: Service, fragile: wayleave.Client, proxy: Proxy, folder: Path
) -> None:
    service.publish("changing", data.many(folder / "one.geojson", 5000))
    proxy.cuts = [50_000]
    with pytest.raises(wayleave.ConnectionError):
        fragile.download("changing", "geoparquet", "file", max_retries=0)
    service.publish("changing", data.many(folder / "two.geojson", 6000))
    fragile.download("changing", "geoparquet", "file")
    assert len(proxy.ranges()) == 1
    assert (folder / "file").read_bytes() == fragile.download("changing", "geoparquet", "new").read_bytes()


def test_a_part_that_is_longer_than_the_file_is_thrown_away(
    client: wayleave.Client, fragile: wayleave.Client, proxy: Proxy, folder: Path
) -> None:
    whole = client.download("places", "geoparquet", "whole").read_bytes()
    proxy.cuts = [3000]
    with pytest.raises(wayleave.ConnectionError):
        fragile.download("places", "geoparquet", "file", max_retries=0)
    with (folder / "file.part").open("ab") as part:
        part.write(b"x" * len(whole))
    assert fragile.download("places", "geoparquet", "file").read_bytes() == whole


def test_a_part_without_its_note_is_not_trusted(client: wayleave.Client, folder: Path) -> None:
    (folder / "places.csv.part").write_bytes(b"something else")
    (folder / "places.csv.part.json").write_text("{")
    client.download("places", "csv")
    assert (folder / "places.csv").read_text().startswith("name,code")
    assert list(folder.iterdir()) == [folder / "places.csv"]


def test_a_packed_download_that_is_damaged_is_refused(
    fragile: wayleave.Client, proxy: Proxy, folder: Path
) -> None:
    fragile.download("many", "geojson", "good")
    flipped = []

    def flip(chunk: bytes) -> bytes:
        if len(chunk) < 10_000 or flipped:
            return chunk
        flipped.append(True)
        return chunk[:9000] + bytes([chunk[9000] ^ 1]) + chunk[9001:]

    proxy.change = flip
    with pytest.raises(wayleave.IntegrityError):
        fragile.download("many", "geojson", "damaged")
    assert flipped
    assert list(folder.iterdir()) == [folder / "good"]


def test_a_checksum_that_the_service_gives_is_held(tmp_path: Path) -> None:
    from wayleave._http.sink import MemorySink, PartFile, Representation

    digest = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="
    for content, right in ((b"hello", True), (b"hallo", False)):
        for sink in (MemorySink(), PartFile(tmp_path / "file")):
            sink.begin(Representation("/x", '"a"', "identity", 5, digest))
            sink.write(content)
            finish = sink.content if isinstance(sink, MemorySink) else sink.finish
            if right:
                finish()
            else:
                with pytest.raises(wayleave.IntegrityError):
                    finish()
    assert (tmp_path / "file").read_bytes() == b"hello"
    packed = MemorySink()
    packed.begin(Representation("/x", '"a"', "gzip", None, None))
    packed.write(gzip.compress(b"hello"))
    assert packed.content() == b"hello"


def test_read_survives_cuts_too(
    client: wayleave.Client, fragile: wayleave.Client, proxy: Proxy, waits: list[float]
) -> None:
    # The first answer on each connection is the metadata.
    proxy.cuts = [200_000, 100_000]
    assert fragile.read("many").equals(client.read("many"))
    assert len(waits) == 2


def test_progress_renews_patience_and_its_absence_ends_it(
    client: wayleave.Client, fragile: wayleave.Client, proxy: Proxy, folder: Path, waits: list[float]
) -> None:
    proxy.cuts = [10] * 4
    with pytest.raises(wayleave.ConnectionError):
        fragile.download("many", "geoparquet", "file", max_retries=3)
    assert waits == [0.5, 1.0, 2.0]
    waits.clear()
    proxy.cuts = [100_000] * 3
    fragile.download("many", "geoparquet", "file", max_retries=1)
    assert waits == [0.5] * 3


def test_the_async_client_resumes_as_well(
    client: wayleave.Client, proxy: Proxy, key: str, folder: Path
) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    async def download() -> Path:
        async with wayleave.AsyncClient(key, proxy.url, sleep=note) as other:
            return await other.download("many", "geoparquet", "async.parquet")

    proxy.cuts = [150_000]
    path = anyio.run(download)
    assert path.read_bytes() == client.download("many", "geoparquet", "sync.parquet").read_bytes()
    assert len(waits) == len(proxy.ranges()) == 1


def test_a_cancelled_async_download_leaves_a_part_to_resume(
    client: wayleave.Client, service: Service, key: str, folder: Path
) -> None:
    async def download() -> None:
        async with wayleave.AsyncClient(key, service.url) as other:
            with anyio.CancelScope() as scope:

                def stop(received: int, _total: int | None) -> None:
                    if received > 150_000:
                        scope.cancel()

                await other.download("many", "geoparquet", "file", progress=stop)
            assert scope.cancelled_caught
            assert (folder / "file.part").stat().st_size > 150_000
            assert len(await other.datasets()) > 0
            await other.download("many", "geoparquet", "file")

    anyio.run(download)
    assert (folder / "file").read_bytes() == client.download("many", "geoparquet", "other").read_bytes()


def test_a_server_that_goes_away_and_comes_back_is_waited_for(service: Service, key: str) -> None:
    with wayleave.Client(key, service.url, max_retries=20) as client:
        datasets = client.datasets()
        service.stop()
        returning = threading.Timer(0.5, service.start)
        returning.start()
        assert client.datasets() == datasets
        returning.join()


def test_429_is_waited_out_for_as_long_as_the_service_says(commands: Commands, tmp_path: Path) -> None:
    service = Service(tmp_path, commands, WAYLEAVE_KEY_RATE="30", WAYLEAVE_KEY_BURST="1")
    key = service.platform_key()
    service.start()
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        time.sleep(seconds)

    try:
        with wayleave.Client(key, service.url, sleep=sleep) as client:
            for _ in range(3):
                assert client.datasets() == []
            assert waits
            assert all(1 <= wait <= 2.25 for wait in waits)
            with pytest.raises(wayleave.RateLimitError) as caught:
                for _ in range(4):
                    client.datasets(max_retries=0)
            assert (caught.value.status, caught.value.code) == (429, "rate-limited")
            assert caught.value.retry_after in (1, 2)
    finally:
        service.stop()


def test_pauses_grow_are_spread_and_end() -> None:
    def policy(chance: float) -> Policy:
        return Policy(timeout=1, max_retries=6, random=lambda: chance)

    broken = wayleave.ConnectionError("x")
    assert [policy(1).pause_before_retry(i, broken) for i in range(7)] == [0.5, 1, 2, 4, 8, 8, None]
    assert [policy(0).pause_before_retry(i, broken) for i in range(3)] == [0.25, 0.5, 1]
    for status in (502, 503, 504):
        assert policy(1).pause_before_retry(0, wayleave.ServerError(status)) == 0.5
    for status in (400, 401, 404, 500, 501):
        assert policy(1).pause_before_retry(0, wayleave.APIStatusError(status)) is None
    for after, pause in ((7.0, 7.0), (60.0, 60.0), (61.0, None)):
        error = wayleave.RateLimitError(429, retry_after=after)
        assert policy(0).pause_before_retry(0, error) == pause


def test_retry_after_is_seconds_or_a_date() -> None:
    at = datetime(2030, 1, 1, tzinfo=timezone.utc)
    assert seconds_of_retry_after("12", at) == 12
    assert seconds_of_retry_after("Tue, 01 Jan 2030 00:00:30 GMT", at) == 30
    assert seconds_of_retry_after("Tue, 01 Jan 2030 00:00:30 -0000", at) == 30
    assert seconds_of_retry_after("Tue, 01 Jan 2029 00:00:30 GMT", at) == 0
    assert [seconds_of_retry_after(value, at) for value in (None, "", "soon")] == [None] * 3


def test_the_key_never_leaves_for_another_address(fragile: wayleave.Client, proxy: Proxy, key: str) -> None:
    def redirect(chunk: bytes) -> bytes:
        head = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
        return head if chunk.startswith(b"HTTP/1.1") else b""

    pages = fragile.items("many", limit=50_000)
    # Links name the service's own address, the client stays with the one it was given.
    assert [len(page) for page in pages][:2] == [10_000, 10_000]
    assert proxy.received.decode().count("GET /v1/ogc/collections/many/items?") == MANY // 10_000
    proxy.change = redirect
    with pytest.raises(wayleave.APIStatusError, match=r"redirects to http://127\.0\.0\.1:9/"):
        fragile.datasets()


def test_what_is_no_problem_document_still_tells_the_status(fragile: wayleave.Client, proxy: Proxy) -> None:
    page = b"<html>bad gateway</html>"
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: %d\r\n\r\n" % len(page)
    proxy.change = lambda _: head + page
    with pytest.raises(wayleave.ServerError) as caught:
        fragile.datasets()
    assert (caught.value.status, caught.value.code, caught.value.detail) == (502, "", "")
    assert json.dumps(str(caught.value)) == '"502"'


def test_a_redirected_download_is_followed_to_the_store_without_the_key(tmp_path: Path) -> None:
    asked: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if request.url.host == "store.example.org":
            return httpx.Response(200, stream=httpx.ByteStream(b"a,b\n1,2\n"), headers={"ETag": '"stored"'})
        headers = {
            "Location": "https://store.example.org/places.csv?X-Amz-Signature=abc",
            "ETag": '"ours"',
            "Credits-Charged": "2",
            "Credits-Remaining": "8",
        }
        return httpx.Response(307, headers=headers)

    http = httpx.Client(transport=httpx.MockTransport(respond))
    with wayleave.Client(
        "svc_live_x", "https://data.example.org", http_client=http, max_retries=0, cache_dir=False
    ) as client:
        assert client.download("places", "csv", tmp_path).read_bytes() == b"a,b\n1,2\n"
    assert [request.url.host for request in asked] == ["data.example.org", "store.example.org"]
    assert ["x-api-key" in request.headers for request in asked] == [True, False]
