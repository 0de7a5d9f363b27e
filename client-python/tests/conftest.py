from __future__ import annotations

import functools
import ssl
from collections.abc import Iterator
from pathlib import Path

import data
import pytest
from proxy import Proxy
from service import Commands, Service

import wayleave

MANY = 30_000

# Every client reads all certificate authorities, which takes longer than most tests, so clients share them.
ssl.create_default_context = functools.cache(ssl.create_default_context)


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    commands = Commands()
    yield commands
    commands.close()


@pytest.fixture(scope="session")
def service(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    # Behind a proxy a service is known by another address than it is reached at.
    service = Service(folder, commands, WAYLEAVE_BASE_URL="https://data.example.org")
    service.publish("places", data.places(folder / "places-1.geojson", 120))
    service.publish("places", data.places(folder / "places.geojson"), "--title", "Places", "--credits", "2")
    service.publish("shapes", data.shapes(folder / "shapes.geojson"))
    service.publish("many", data.many(folder / "many.geojson", MANY))
    (folder / "fruit.csv").write_text("fruit,price\napple,1.5\npear,\n")
    service.publish("fruit", folder / "fruit.csv")
    service.publish("named", data.named(folder / "named.geojson"), "--id-column", "code")
    service.publish("holland", data.write(folder / "h.geojson", [data.feature(1, {}, data.point(4.5, 51.5))]))
    service.publish("numbered", data.numbered(folder / "numbered.geojson"))
    service.publish("surveyed", data.surveyed(folder / "surveyed.geojson"))
    service.publish("awkward", data.awkward(folder / "awkward.geojson"))
    (folder / "described.csv").write_text("name,geometry\nsquare,four sides\ncircle,round\n")
    service.publish("described", folder / "described.csv")
    fruit = [
        data.feature(n, {"name": name}, data.point(n, n)) for n, name in enumerate(("apple", "fig", "pear"))
    ]
    service.publish("open_fruit", data.write(folder / "open.geojson", fruit), "--visibility", "open")
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def key(service: Service) -> str:
    return service.platform_key()


@pytest.fixture
def client(service: Service, key: str) -> Iterator[wayleave.Client]:
    with wayleave.Client(key, service.url) as client:
        yield client


@pytest.fixture
def proxy(service: Service) -> Iterator[Proxy]:
    proxy = Proxy(service.port)
    yield proxy
    proxy.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
