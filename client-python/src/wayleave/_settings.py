from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import urlsplit

import httpx

from wayleave._errors import ConnectionError, TimeoutError, WayleaveError
from wayleave._retry import Policy
from wayleave._steps import Answer, Request
from wayleave._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_TIMEOUT = 60.0
LONGEST_CONNECTING = 10.0
DEFAULT_MAX_RETRIES = 4


class CallOptions(TypedDict, total=False):
    """What every call takes beside its own arguments; without them, the client's own hold."""

    timeout: float | None
    """Seconds without a byte after which the call is tried again or given up; None waits for ever."""
    max_retries: int
    """How often a failed call is tried again."""


@dataclass(frozen=True)
class Settings:
    """How to reach the service."""

    base_url: str
    api_key: str = field(repr=False)
    timeout: float | None
    max_retries: int
    random: Callable[[], float] = field(repr=False)

    def policy(self, options: CallOptions) -> Policy:
        return Policy(
            options.get("timeout", self.timeout), options.get("max_retries", self.max_retries), self.random
        )

    def shown_url(self) -> str:
        """Without the user name and password that it may have."""
        return str(httpx.URL(self.base_url).copy_with(userinfo=b""))

    def without_key(self, text: str) -> str:
        """Whatever a message is made of, the key is not in it."""
        return text.replace(self.api_key, "[redacted]")

    def build(self, request: Request, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        headers = {
            "User-Agent": f"wayleave-python/{__version__}",
            "Accept": "application/geo+json, application/json;q=0.9, */*;q=0.5",
            **request.headers,
            "X-API-Key": self.api_key,
        }
        timeout = httpx.Timeout(
            request.timeout,
            connect=None if request.timeout is None else min(request.timeout, LONGEST_CONNECTING),
        )
        return client.build_request(
            "GET",
            self.base_url + request.path,
            params=request.params or None,
            headers=headers,
            timeout=timeout,
        )

    def answer(self, response: httpx.Response, body: bytes) -> Answer:
        headers = {name.lower(): value for name, value in response.headers.items()}
        # An answer may quote the request that it refuses.
        refused = response.status_code >= 300
        text = body.replace(self.api_key.encode(), b"[redacted]") if refused else body
        return Answer(response.status_code, headers, text)

    def failure(self, error: httpx.HTTPError) -> WayleaveError:
        if isinstance(error, httpx.TimeoutException):
            return TimeoutError(f"{self.shown_url()} did not answer in time ({type(error).__name__}).")
        reason = self.without_key(str(error)) or type(error).__name__
        return ConnectionError(f"The connection to {self.shown_url()} failed: {reason}")


def settings_of(
    api_key: str | None,
    base_url: str | None,
    timeout: float | None,
    max_retries: int,
    random: Callable[[], float],
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """What is given, else what the environment says, else a sentence that helps."""
    key = (api_key if api_key is not None else environment.get("WAYLEAVE_API_KEY", "")).strip()
    if not key:
        raise WayleaveError(
            "There is no API key: pass api_key=… or set WAYLEAVE_API_KEY. "
            "You can make one on the keys page of your service's console."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise WayleaveError("The API key holds characters that no key has: was something else copied along?")
    url = (base_url if base_url is not None else environment.get("WAYLEAVE_BASE_URL", "")).strip()
    if not url:
        raise WayleaveError(
            "There is no base URL: pass base_url=… or set WAYLEAVE_BASE_URL to your service's address, "
            "such as https://data.example.org."
        )
    if not _is_address(url):
        raise WayleaveError("The base URL is no address: it must begin with http:// or https://.")
    if max_retries < 0:
        raise ValueError("max_retries must not be negative.")
    return Settings(url.rstrip("/"), key, timeout, max_retries, random)


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        httpx.URL(text)
    except (ValueError, httpx.InvalidURL):
        return False
    return address.scheme in ("http", "https") and bool(address.hostname)
