from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
from pathlib import Path

import anyio
import httpx
import pytest
from conftest import MANY
from service import Service

import wayleave
from wayleave.command import main


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLEAVE_API_KEY", raising=False)
    monkeypatch.delenv("WAYLEAVE_BASE_URL", raising=False)


@pytest.mark.parametrize("kind", [wayleave.Client, wayleave.AsyncClient])
def test_what_is_missing_is_said_at_construction(kind: type) -> None:
    with pytest.raises(wayleave.WayleaveError, match="WAYLEAVE_BASE_URL"):
        kind()
    with pytest.raises(wayleave.WayleaveError, match="empty"):
        kind(api_key="  ", base_url="http://localhost")
    with pytest.raises(wayleave.WayleaveError, match="WAYLEAVE_BASE_URL"):
        kind(api_key="k")
    for url in ("localhost:8080", "ftp://x", "http://", "http://[", "x"):
        with pytest.raises(wayleave.WayleaveError, match="http"):
            kind(api_key="k", base_url=url)
    for key in ("a b", "schlüssel", "a\nX-Other: 1"):
        with pytest.raises(wayleave.WayleaveError) as caught:
            kind(api_key=key, base_url="http://localhost")
        assert key not in str(caught.value)
    with pytest.raises(ValueError, match="max_retries"):
        kind(api_key="k", base_url="http://localhost", max_retries=-1)
    with pytest.raises(ValueError, match="cache_bytes"):
        kind(api_key="k", base_url="http://localhost", cache_bytes=0)
    with pytest.raises(TypeError):
        kind(api_key="k", base_url="http://localhost", retries=1)


def test_metadata_and_samples_need_no_key(service: Service) -> None:
    with wayleave.Client(base_url=service.url) as client:
        assert "places" in [one.table for one in client.datasets()]
        assert client.dataset("places").rows == client["places"].rows == 200
        assert len(client.sample("places")) == len(client["places"].sample()) == 20
        assert len(client.archives("places")) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.read("places"),
        lambda client: client.read("places", limit=1),
        lambda client: client.read_table("places"),
        lambda client: client.read_arrow("places"),
        lambda client: client.download("places", "csv"),
        lambda client: next(client.items("places")),
        lambda client: client.items("places").read(),
        lambda client: client.publish("places", __file__),
        lambda client: client.job("x"),
    ],
)
def test_without_a_key_what_needs_one_says_where_to_get_it(call, service: Service) -> None:
    with (
        wayleave.Client(base_url=service.url) as client,
        pytest.raises(wayleave.AuthenticationError, match="WAYLEAVE_API_KEY") as caught,
    ):
        call(client)
    assert (caught.value.status, caught.value.code) == (401, "key-missing")
    assert service.url in str(caught.value)


def test_open_datasets_are_read_without_a_key(service: Service, folder: Path) -> None:
    with wayleave.Client(base_url=service.url) as client:
        assert len(client.read("open_fruit")) == len(client.items("open_fruit").read()) == 3
        assert len(client.read("open_fruit", limit=1)) == 1
        assert client.download("open_fruit", "csv").read_text().startswith("id,name")


def test_the_environment_stands_in(service: Service, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYLEAVE_API_KEY", f" {key}\n")
    monkeypatch.setenv("WAYLEAVE_BASE_URL", f"{service.url}/")
    with wayleave.Client() as client:
        assert client.dataset("places").rows == 200


def test_a_password_in_the_base_url_is_not_shown() -> None:
    with wayleave.Client("k", "https://user:secret@data.example.org/api") as client:
        assert repr(client) == "Client(base_url='https://data.example.org/api')"


def test_an_http_client_of_the_callers_own_is_used_and_left_open(service: Service, key: str) -> None:
    asked: list[str] = []
    hooks = {"request": [lambda request: asked.append(request.url.path)]}
    with httpx.Client(event_hooks=hooks) as http:
        with wayleave.Client(key, service.url, http_client=http) as client:
            client.datasets()
        assert asked == ["/v1/datasets"]
        assert not http.is_closed


@pytest.mark.parametrize(
    ("missing", "extra", "call"),
    [
        ("geopandas", "geo", lambda client: client.read("places")),
        ("pandas", "pandas", lambda client: client.read_table("places")),
        ("pandas", "pandas", lambda client: client.sample("places")),
        ("geopandas", "geo", lambda client: client.items("places").read()),
        ("pyarrow", "arrow", lambda client: client.read_arrow("places")),
        ("polars", "polars", lambda client: client.read_polars("places")),
        ("pyarrow", "polars", lambda client: client.read_polars("places")),
        ("duckdb", "duckdb", lambda client: client.read_duckdb("places")),
        ("pyarrow", "duckdb", lambda client: client.read_duckdb("places")),
        ("tqdm", "progress", lambda client: client.download("places", "csv", progress=True)),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    client: wayleave.Client, monkeypatch: pytest.MonkeyPatch, folder: Path, missing: str, extra: str, call
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(wayleave.MissingExtraError) as caught:
        call(client)
    packages = str(caught.value).split("pip install ")[1].split(" (")[0].split(" ")
    assert missing in packages
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    required = re.search(rf"^{extra} = \[(.*)\]$", project, re.MULTILINE)[1]
    assert sorted(packages) == sorted(re.findall(r'"([a-z]+)', required))
    assert isinstance(caught.value, ImportError)


def test_importing_the_package_imports_no_extra() -> None:
    script = (
        "import sys, wayleave; "
        "print({'pandas', 'geopandas', 'pyarrow', 'numpy', 'tqdm', 'polars', 'duckdb'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_the_command_downloads_and_lists(
    service: Service,
    key: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WAYLEAVE_API_KEY", key)
    assert main(["places", "csv", "--base-url", service.url]) == 0
    assert capsys.readouterr().out == "places.csv\n"
    assert (folder / "places.csv").read_text().count("\n") == 201
    monkeypatch.setenv("WAYLEAVE_BASE_URL", service.url)
    assert main(["places", "-o", "old.geojson", "--archive", "1", "-q"]) == 0
    assert (folder / "old.geojson").exists()
    monkeypatch.delenv("WAYLEAVE_API_KEY")
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert "places" in listed
    assert f"{MANY:,} rows" in listed


def test_the_command_says_in_one_sentence_what_failed(
    service: Service, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["places"]) == 1
    assert "WAYLEAVE_BASE_URL" in capsys.readouterr().err
    assert main(["places", "--base-url", service.url]) == 1
    assert "WAYLEAVE_API_KEY" in capsys.readouterr().err
    monkeypatch.setenv("WAYLEAVE_API_KEY", "svc_live_00000000000000000000000000000000")
    assert main(["places", "--base-url", service.url]) == 1
    error = capsys.readouterr().err
    assert error.startswith("wayleave-get: 401 key-invalid")
    assert "0" * 32 not in error
    with pytest.raises(SystemExit) as wrong:
        main(["--nonsense"])
    assert wrong.value.code == 2


def test_clients_share_the_certificate_authorities(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loads: list[str | None] = []

    def load() -> ssl.SSLContext:
        loads.append(os.environ.get("SSL_CERT_FILE"))
        return ssl.create_default_context()

    monkeypatch.setattr(httpx, "create_ssl_context", load)
    for file in (tmp_path / "one.pem", tmp_path / "two.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        for _ in range(2):
            wayleave.Client("key", "https://data.example.org").close()
            anyio.run(wayleave.AsyncClient("key", "https://data.example.org").close)
    assert loads == [str(tmp_path / "one.pem"), str(tmp_path / "two.pem")]


def test_a_reader_that_closes_its_pipe_early_is_no_error(service: Service) -> None:
    program = "import sys\nfrom wayleave.command import main\nsys.exit(main())"
    environment = {**os.environ, "WAYLEAVE_BASE_URL": service.url}
    child = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with child:
        child.stdout.close()
        error = child.stderr.read()
    assert (child.returncode, error) == (0, b"")
