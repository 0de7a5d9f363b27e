from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import httpx
from service import NODE, ROOT, Service

import wayleave

PROJECT = Path(__file__).parents[1]

TOUR = """
import wayleave
with wayleave.Client(api_key=None) as client:
    assert repr(client["places"]).startswith("<Dataset 'places'")
    assert "<svg" in client["places"]._repr_html_()
    assert client.dataset("places").rows == 200
    assert len(list(client.items("places", limit=90).features())) == 200
    print(client.download("places", "csv"))
    try:
        client.read("places")
    except wayleave.MissingExtraError as error:
        print(error)
"""


def metadata(wheel: Path) -> dict[str, list[str]]:
    """What pip reads of a wheel, in an order that does not depend on the program that built it."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        message = Parser().parsestr(archive.read(name).decode())
    fields = {name: sorted(message.get_all(name, [])) for name in set(message)}
    fields["Keywords"] = sorted(fields["Keywords"][0].split(","))
    # Which edition of the same format: hatchling writes the newest one.
    del fields["Metadata-Version"]
    return {**fields, "Description": [message.get_payload()]}


def test_the_package_installs_from_a_running_service_and_is_the_one_that_hatchling_builds(
    service: Service, key: str, folder: Path
) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**clean, "WAYLEAVE_API_KEY": key, "WAYLEAVE_BASE_URL": service.url}

    def run(*command: str | Path) -> str:
        done = subprocess.run([*command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(NODE, ROOT / "scripts" / "clients" / "main.ts")
    url = f"{service.url}/clients/wayleave-{wayleave.__version__}-py3-none-any.whl"
    response = httpx.get(url, headers={"Origin": "https://other.example"})
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, "*")
    served = folder / url.rsplit("/", 1)[1]
    served.write_bytes(response.content)

    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", PROJECT)
    wheel, archive = next((folder / "dist").glob("*.whl")), next((folder / "dist").glob("*.tar.gz"))
    assert served.name == wheel.name
    names = sorted(zipfile.ZipFile(served).namelist())
    assert names == sorted(zipfile.ZipFile(wheel).namelist())
    assert metadata(served) == metadata(wheel)
    assert {"wayleave/__init__.py", "wayleave/py.typed"} <= set(names)
    assert not [name for name in names if "test" in name]
    assert archive.stat().st_size < 100_000

    # The pip of this environment installs into the empty one, which saves installing another pip.
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    install = ("install", "--quiet", "--disable-pip-version-check", url)
    run(sys.executable, "-m", "pip", "--python", python, *install)
    shown = run(python, "-W", "error", "-c", TOUR)
    assert shown.startswith("places.csv\n")
    assert "pip install geopandas pandas pyarrow shapely" in shown
    assert run(folder / "venv" / "bin" / "wayleave-get", "places", "kml") == "places.kml\n"
