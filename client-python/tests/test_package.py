from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from service import Service

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


def test_the_package_builds_installs_into_an_empty_environment_and_works(
    service: Service, key: str, folder: Path
) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**clean, "WAYLEAVE_API_KEY": key, "WAYLEAVE_BASE_URL": service.url}

    def run(*command: str | Path) -> str:
        done = subprocess.run([*command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "-m", "build", "--outdir", folder / "dist", PROJECT)
    wheel, archive = next((folder / "dist").glob("*.whl")), next((folder / "dist").glob("*.tar.gz"))
    names = zipfile.ZipFile(wheel).namelist()
    assert {"wayleave/__init__.py", "wayleave/py.typed"} <= set(names)
    assert not [name for name in names if "test" in name]
    assert archive.stat().st_size < 100_000

    # The pip of this environment installs into the empty one, which saves installing another pip.
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    install = ("install", "--quiet", "--disable-pip-version-check", wheel)
    run(sys.executable, "-m", "pip", "--python", python, *install)
    shown = run(python, "-W", "error", "-c", TOUR)
    assert shown.startswith("places.csv\n")
    assert "pip install geopandas pandas pyarrow shapely" in shown
    assert run(folder / "venv" / "bin" / "wayleave-get", "places", "kml") == "places.kml\n"
