from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from service import ROOT, Service

import wayleave

README = Path(__file__).parents[1] / "README.md"
DOCUMENTS = [README, ROOT / "docs" / "python.md"]


def examples(language: str) -> list[str]:
    texts = [document.read_text() for document in DOCUMENTS]
    return [code for text in texts for code in re.findall(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)]


# Runs each example by itself in one process, because importing geopandas takes longer than most examples.
RUNNER = """
import contextlib, io, json, sys, traceback
results = []
for code in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(compile(code, "example", "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
    results.append([out.getvalue(), err.getvalue()])
json.dump(results, sys.stdout)
"""


@pytest.fixture(scope="module")
def environment(service: Service, key: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    command = tmp_path_factory.mktemp("path") / "bin" / "wayleave-get"
    command.parent.mkdir()
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom wayleave.command import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    source = {"PATH": path, "PYTHONPATH": str(README.parent / "src")}
    return {**os.environ, **source, "WAYLEAVE_API_KEY": key, "WAYLEAVE_BASE_URL": service.url}


@pytest.fixture(scope="module")
def outputs(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """What each example writes to standard output and to standard error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-c", RUNNER],
        env=environment,
        cwd=tmp_path_factory.mktemp("examples"),
        input=json.dumps(examples("python")),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [(out, err) for out, err in json.loads(done.stdout)]


@pytest.mark.parametrize("number", range(len(examples("python"))))
def test_every_example_runs(outputs: list[tuple[str, str]], number: int) -> None:
    out, err = outputs[number]
    if "progress=True" not in examples("python")[number]:
        assert err == ""
    assert "Traceback" not in err
    assert out


def test_what_is_said_to_need_no_key_needs_none(environment: dict[str, str], folder: Path) -> None:
    section = (ROOT / "docs" / "python.md").read_text().split("## Look around, without a key")[1]
    code = re.findall(r"^```python\n(.*?)^```$", section, re.S | re.M)[0]
    keyless = {name: value for name, value in environment.items() if name != "WAYLEAVE_API_KEY"}
    done = subprocess.run([sys.executable, "-c", code], env=keyless, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "places" in done.stdout


@pytest.mark.parametrize("code", [code for code in examples("sh") if "pip install" not in code])
def test_every_command_runs(environment: dict[str, str], folder: Path, code: str) -> None:
    done = subprocess.run(["sh", "-ec", code], env=environment, capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "places.csv" in done.stdout


def test_the_readme_names_every_error_and_says_that_it_is_a_preview() -> None:
    text = README.read_text()
    errors = [name for name in wayleave.__all__ if name.endswith("Error")]
    assert [name for name in errors if f"`{name}`" not in text] == []
    assert wayleave.__version__.startswith("0.")
    assert "**Preview.**" in text
