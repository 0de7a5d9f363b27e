"""The real service, started for the tests on a free port of loopback with a data folder of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
NODE = str(ROOT / "node_modules/.bin/node")
# A full test run builds the program once, because it starts faster than its sources.
# With these flags it does not start Node a second time.
FLAGS = ["--no-parallel-scavenge", "--max-semi-space-size=32"]
PROGRAM = [NODE, *FLAGS, os.environ.get("WAYLEAVE_TEST_PROGRAM", str(ROOT / "server/bin/wayleave.js"))]
COMMAND_PROCESS = [NODE, str(ROOT / "server/src/testing/processes/command-process.ts")]
PATIENCE = 60


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Commands:
    """Runs commands of the service in one process, because starting one for each takes a second."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            COMMAND_PROCESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, settings: dict[str, str], cwd: Path, *arguments: str) -> dict:
        request = {"args": [*arguments, "--json"], "settings": settings, "cwd": str(cwd)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())
        assert result["code"] == 0, result["stdout"] + result["stderr"]
        return json.loads(result["stdout"])

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class Service:
    def __init__(self, folder: Path, commands: Commands, **settings: str) -> None:
        self.folder = folder
        self.commands = commands
        self.data_dir = folder / "data"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        others = {name: value for name, value in os.environ.items() if not name.startswith("WAYLEAVE_")}
        unlimited = dict.fromkeys(
            ("WAYLEAVE_KEY_RATE", "WAYLEAVE_ADDRESS_RATE", "WAYLEAVE_USER_RATE"), "1000000"
        )
        # To try the sandbox takes a process for every server.
        own = {"WAYLEAVE_DATA_DIR": str(self.data_dir), "WAYLEAVE_TILES": "false", "WAYLEAVE_SANDBOX": "off"}
        self.settings = {**unlimited, **own, **settings}
        self.environment = {**others, **self.settings}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Service:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*PROGRAM, "serve", "--json", "--port", str(self.port)],
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                if httpx.get(f"{self.url}/health").status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.05)
        raise RuntimeError("The service did not start:\n" + (self.folder / "log").read_text())

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)
            self.process = None

    def command(self, *arguments: str) -> dict:
        return self.commands.run(self.settings, self.folder, *arguments)

    def publish(self, table: str, file: Path, *arguments: str) -> dict:
        return self.command("publish", str(file), "--table", table, *arguments)

    def platform_key(self) -> str:
        return self.command("key", "create", "--platform", "--name", "test", "--permissions", "read,write")[
            "secret"
        ]


class Account:
    """A user in an organization of their own, signed in as people do."""

    def __init__(self, service: Service, email: str) -> None:
        self.service = service
        httpx.post(f"{service.url}/v1/auth/magic-link", json={"email": email}).raise_for_status()
        answer = httpx.post(f"{service.url}/v1/auth/token", json={"token": self._mailed_token(email)})
        self._headers = {"Authorization": f"Bearer {answer.raise_for_status().json()['accessToken']}"}
        me = httpx.get(f"{service.url}/v1/organization/me", headers=self._headers)
        self.organization = me.raise_for_status().json()["id"]

    def _mailed_token(self, email: str) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for mail in (self.service.data_dir / "outbox").glob("*.eml"):
                text = mail.read_text()
                if email in text:
                    return re.search(r"^https?:\S+#(\S+)$", text, re.MULTILINE)[1]
            time.sleep(0.02)
        raise RuntimeError(f"No mail to {email} came.")

    def key(self, seconds: float | None = None) -> str:
        body: dict = {"name": "test", "permissions": ["read"]}
        if seconds is not None:
            body["expiresAt"] = (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat()
        answer = httpx.post(f"{self.service.url}/v1/api-keys/personal", json=body, headers=self._headers)
        return answer.raise_for_status().json()["secret"]

    def grant(self, *add_ons: str, credits: int = 0) -> None:
        self.service.command("org", "add-on", self.organization, *add_ons)
        if credits:
            self.service.command("org", "credits", self.organization, "--set", str(credits))
