from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from wayleave._errors import AuthenticationError, ConnectionError, TimeoutError, WayleaveError
from wayleave._http.cache import DEFAULT_CACHE_BYTES, Cache, default_folder
from wayleave._http.retry import Policy
from wayleave._http.steps import Request, Response
from wayleave._version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_TIMEOUT = 60.0
LONGEST_CONNECTING = 10.0
DEFAULT_MAX_RETRIES = 4


@dataclass(frozen=True)
class Settings:
    """How to reach the service."""

    base_url: str
    api_key: str | None = field(repr=False)
    timeout: float | None
    max_retries: int
    random: Callable[[], float] = field(repr=False)
    cache: Cache | None = field(default=None, repr=False)

    def policy(self, options: Mapping[str, Any]) -> Policy:
        """The timeout and the retries of one call."""
        max_retries = options.get("max_retries", self.max_retries)
        if max_retries < 0:
            raise ValueError("max_retries must not be negative.")
        return Policy(options.get("timeout", self.timeout), max_retries, self.random)

    def require_key(self) -> None:
        """Fail as the service would, before anything is sent, and say where a key comes from."""
        if self.api_key is None:
            raise AuthenticationError(
                401,
                "key-missing",
                "There is no API key: pass api_key=… or set WAYLEAVE_API_KEY. "
                f"You can create one on the keys page of {self.shown_url()}.",
            )

    def explain_missing_key(self, error: AuthenticationError) -> None:
        """Say where a key comes from, if the service asks for one. Open datasets need none."""
        if self.api_key is None and error.code == "key-missing":
            error.add_hint(
                "Pass api_key=… or set WAYLEAVE_API_KEY. "
                f"You can create a key on the keys page of {self.shown_url()}."
            )

    def shown_url(self) -> str:
        """The base URL without the user name and password that it may have."""
        return str(httpx.URL(self.base_url).copy_with(userinfo=b""))

    def without_key(self, text: str) -> str:
        """The text with the key redacted, for messages."""
        return text if self.api_key is None else text.replace(self.api_key, "[redacted]")

    def build(
        self,
        request: Request,
        client: httpx.Client | httpx.AsyncClient,
        content: Any = None,  # noqa: ANN401
    ) -> httpx.Request:
        headers = {
            "User-Agent": f"wayleave-python/{__version__}",
            "Accept": "application/geo+json, application/json;q=0.9, */*;q=0.5",
            **request.headers,
        }
        if self.api_key is not None:
            headers["X-API-Key"] = self.api_key
        timeout = httpx.Timeout(
            request.timeout,
            connect=None if request.timeout is None else min(request.timeout, LONGEST_CONNECTING),
        )
        return client.build_request(
            request.method,
            self.base_url + request.path,
            params=request.params or None,
            content=request.content if content is None else content,
            headers=headers,
            timeout=timeout,
        )

    def redirected(
        self, request: httpx.Request, response: httpx.Response, client: httpx.Client | httpx.AsyncClient
    ) -> httpx.Request | None:
        """The request for a download that is redirected to an object store, which never gets the key."""
        location = response.headers.get("location", "")
        is_download = response.status_code == 307 and "/files/" in request.url.path
        if not is_download or not location.startswith(("http://", "https://")):
            return None
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() in ("range", "if-range", "if-none-match", "accept-encoding", "user-agent")
        }
        return client.build_request("GET", location, headers=headers, extensions=request.extensions)

    def to_response(self, response: httpx.Response, body: bytes) -> Response:
        headers = {name.lower(): value for name, value in response.headers.items()}
        # An error may quote the request.
        if response.status_code >= 300 and self.api_key is not None:
            body = body.replace(self.api_key.encode(), b"[redacted]")
        return Response(response.status_code, headers, body)

    def failure(self, error: httpx.HTTPError) -> WayleaveError:
        if isinstance(error, httpx.TimeoutException):
            return TimeoutError(f"{self.shown_url()} did not respond in time ({type(error).__name__}).")
        reason = self.without_key(str(error)) or type(error).__name__
        return ConnectionError(f"The connection to {self.shown_url()} failed: {reason}")


def settings_of(
    api_key: str | None,
    base_url: str | None,
    timeout: float | None,
    max_retries: int,
    random: Callable[[], float],
    cache_dir: str | os.PathLike[str] | bool | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The arguments, else the environment, else an error that says what to pass."""
    url = (base_url if base_url is not None else environment.get("WAYLEAVE_BASE_URL", "")).strip()
    if not url:
        raise WayleaveError(
            "There is no base URL: pass base_url=… or set WAYLEAVE_BASE_URL to your service's address, "
            "such as https://data.example.org."
        )
    if not _is_address(url):
        raise WayleaveError("The base URL is not an address: it must begin with http:// or https://.")
    if max_retries < 0:
        raise ValueError("max_retries must not be negative.")
    return Settings(
        url.rstrip("/"),
        _key(api_key, environment),
        timeout,
        max_retries,
        random,
        _cache(cache_dir, cache_bytes, environment),
    )


def _key(api_key: str | None, environment: Mapping[str, str]) -> str | None:
    key = (api_key if api_key is not None else environment.get("WAYLEAVE_API_KEY", "")).strip()
    if not key and api_key is None:
        # Metadata and samples need none.
        return None
    if not key:
        raise WayleaveError("The API key is empty: pass api_key=None to read only what needs no key.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise WayleaveError("The API key holds characters that no key has: was something else copied along?")
    return key


def _cache(
    cache_dir: str | os.PathLike[str] | bool | None, cache_bytes: int, environment: Mapping[str, str]
) -> Cache | None:
    if cache_bytes <= 0:
        raise ValueError("cache_bytes must be greater than 0; cache_dir=False turns the cache off.")
    if cache_dir is None:
        cache_dir = environment.get("WAYLEAVE_CACHE_DIR", "").strip() or False
    if cache_dir is False:
        return None
    folder = default_folder() if cache_dir is True else Path(cache_dir).expanduser()
    return Cache(folder, cache_bytes)


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        httpx.URL(text)
    except (ValueError, httpx.InvalidURL):
        return False
    return address.scheme in ("http", "https") and bool(address.hostname)
