"""The local cache: current, bounded, whole, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import data
import pytest
from proxy import Proxy
from service import Account, Service

import wayleave
from wayleave._http.cache import ABANDONED_AFTER, SUFFIX, TEMPORARY, Cache, default_folder
from wayleave._http.sink import Representation

SOURCE = Path(__file__).parents[1] / "src"


def stored(address: str = "a", etag: str | None = '"1"') -> Representation:
    return Representation(address, etag, "identity", None, None)


@pytest.mark.parametrize(
    "read",
    [
        lambda client: client.read("many"),
        lambda client: client.read("many", format="geojson"),
        lambda client: client.read_table("many"),
        lambda client: client.read_arrow("many").to_pandas(),
    ],
)
def test_a_file_is_transferred_once(proxy: Proxy, key: str, folder: Path, read) -> None:
    with wayleave.Client(key, proxy.url, cache_dir=folder / "cache") as client:
        first = read(client)
        size = len(proxy.received)
        received = proxy.sent
        second = read(client)
        assert first.equals(second)
        assert b"if-none-match" in proxy.received[size:].lower()
        assert proxy.sent - received < 10_000 < received
    files = list((folder / "cache").iterdir())
    assert [file.suffix for file in files] == [SUFFIX]
    assert files[0].stat().st_mode & 0o077 == 0


def test_a_cached_read_costs_nothing_even_without_credits(service: Service, folder: Path) -> None:
    account = Account(service, "cache@example.org")
    account.grant("API_ACCESS", credits=2)
    with wayleave.Client(account.key(), service.url, cache_dir=folder) as client:
        assert len(client.read("places")) == 200
        assert client.credits == wayleave.Credits(2, 0)
    # Another key has not paid for the file.
    with wayleave.Client(account.key(), service.url, cache_dir=folder, max_retries=0) as client:
        assert len(client.read("places")) == 200
        assert client.credits.charged == 0
        with pytest.raises(wayleave.PaymentRequiredError):
            client.read("places", format="geojson")


def test_a_key_that_may_not_read_gets_nothing_from_the_cache(
    service: Service, key: str, folder: Path
) -> None:
    with wayleave.Client(key, service.url, cache_dir=folder) as client:
        client.read("places")
    stranger = Account(service, "stranger@example.org").key()
    with (
        wayleave.Client(stranger, service.url, cache_dir=folder) as client,
        pytest.raises(wayleave.PermissionDeniedError),
    ):
        client.read("places")


def test_a_new_version_replaces_the_cached_one(service: Service, key: str, folder: Path) -> None:
    with wayleave.Client(key, service.url, cache_dir=folder / "cache") as client:
        service.publish("renewed", data.many(folder / "one.geojson", 50))
        assert len(client.read("renewed")) == 50
        service.publish("renewed", data.many(folder / "two.geojson", 60))
        assert len(client.read("renewed")) == 60
        assert len(client.read("renewed", version=1)) == 50
        assert len(list((folder / "cache").iterdir())) == 2


def test_a_damaged_or_foreign_entry_is_fetched_again(service: Service, key: str, folder: Path) -> None:
    with wayleave.Client(key, service.url, cache_dir=folder) as client:
        whole = client.read("places")
        (entry,) = folder.iterdir()
        good = entry.read_bytes()
        for bad in (good[:-1], good[:-1] + b"x", b"", b"{}\nxx", b"[]\n", b"\xff\xfe\n", good[:20]):
            entry.write_bytes(bad)
            assert client.read("places").equals(whole)
            assert entry.read_bytes() == good


def test_the_cache_is_off_unless_it_is_asked_for(
    service: Service, key: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "xdg"))
    for options in ({}, {"cache_dir": False}):
        with wayleave.Client(key, service.url, **options) as client:
            client.read("places")
    assert list(folder.iterdir()) == []
    monkeypatch.setenv("WAYLEAVE_CACHE_DIR", str(folder / "env"))
    with wayleave.Client(key, service.url) as client:
        client.read("places")
        assert len(list((folder / "env").iterdir())) == 1
        client.clear_cache()
        assert list((folder / "env").iterdir()) == []
    assert default_folder() == folder / "xdg" / "wayleave"
    with wayleave.Client(key, service.url, cache_dir=True) as client:
        client.read("places")
    assert len(list((folder / "xdg" / "wayleave").iterdir())) == 1


def test_a_cache_that_cannot_be_written_does_not_fail_the_call(
    service: Service, key: str, folder: Path
) -> None:
    (folder / "file").write_text("not a folder")
    with wayleave.Client(key, service.url, cache_dir=folder / "file") as client:
        assert len(client.read("places")) == 200
        client.clear_cache()


def test_the_least_recently_used_entries_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, max_bytes=3500)
    for number, name in enumerate("abc"):
        cache.keep(name, stored(name), name.encode() * 1000)
        os.utime(cache._path(name), (number, number))
    assert cache.find("a") is not None  # now the most recently used
    cache.keep("d", stored("d"), b"d" * 1000)
    assert [name for name in "abcd" if cache.find(name)] == ["a", "c", "d"]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 3500
    cache.keep("e", stored("e"), b"e" * 4000)
    assert cache.find("e") is None
    cache.keep("f", stored("f", None), b"f")
    assert cache.find("f") is None


def test_what_a_crash_left_behind_is_removed_later(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    old, new = tmp_path / f"old{TEMPORARY}", tmp_path / f"new{TEMPORARY}"
    foreign = tmp_path / "notes.txt"
    for file in (old, new, foreign):
        file.write_text("x")
    then = time.time() - ABANDONED_AFTER - 1
    os.utime(old, (then, then))
    cache.keep("a", stored(), b"content")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
        [cache._path("a").name, new.name, foreign.name]
    )
    cache.clear()
    assert list(tmp_path.iterdir()) == [foreign]


WRITER = """
import sys
from pathlib import Path
from wayleave._http.cache import Cache
from wayleave._http.sink import Representation
cache = Cache(Path(sys.argv[1]), max_bytes=700_000)
for round in range(int(sys.argv[3])):
    for name in "abcde":
        body = f"{name}{sys.argv[2]}{round}".encode() * 20_000
        cache.keep(name, Representation(name, '"x"', "identity", None, None), body)
        entry = cache.find(name)
        assert entry is None or entry.content[:1] == name.encode(), entry.content[:20]
"""


def test_many_processes_write_and_read_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(number), "20"],
            env=environment,
            stderr=subprocess.PIPE,
        )
        for number in range(3)
    ]
    cache = Cache(tmp_path)
    while any(writer.poll() is None for writer in writers):
        for name in "abcde":
            entry = cache.find(name)
            if entry is not None:
                parts = {
                    entry.content[i : i + 1]
                    for i in range(0, len(entry.content), len(entry.content) // 20_000)
                }
                assert parts == {name.encode()}
        time.sleep(0.01)
    assert [writer.communicate()[1] for writer in writers] == [b""] * 3
    assert [file.suffix for file in tmp_path.iterdir() if file.suffix != SUFFIX] == []


def test_a_writer_that_is_killed_leaves_no_entry(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    endless = [sys.executable, "-c", WRITER, str(tmp_path), "k", "1000000"]
    for _ in range(3):
        writer = subprocess.Popen(endless, env=environment)
        threading.Timer(0.6, writer.kill).start()
        writer.wait()
    cache = Cache(tmp_path)
    for file in tmp_path.glob(f"*{SUFFIX}"):
        names = [name for name in "abcde" if cache._path(name) == file]
        assert cache.find(names[0]) is not None
