from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from wayleave._errors import APIStatusError, ConnectionError, TimeoutError, WayleaveError, error_of
from wayleave._http.steps import Plan, Request, Response, pause, send

RETRIED_STATUSES = frozenset({429, 502, 503, 504})
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_RETRY_AFTER = 60.0


@dataclass(frozen=True)
class Policy:
    """The timeout and the retries of a call."""

    timeout: float | None
    max_retries: int
    random: Callable[[], float]

    def pause_before_retry(self, attempt: int, error: WayleaveError) -> float | None:
        """Seconds to wait before the next attempt; None if the error must not be retried.

        `attempt` is the number of earlier failures.
        """
        if attempt >= self.max_retries:
            return None
        # Jitter: clients that failed at the same time must not retry at the same time.
        backoff = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt) * (0.5 + self.random() / 2)
        if isinstance(error, (ConnectionError, TimeoutError)):
            return backoff
        if not isinstance(error, APIStatusError) or error.status not in RETRIED_STATUSES:
            return None
        if error.retry_after is None:
            return backoff
        if error.retry_after > LONGEST_RETRY_AFTER:
            return None
        # Shortly after the time that Retry-After names, with jitter.
        return error.retry_after + 0.25 * self.random()


def failure_of(response: Response) -> APIStatusError | None:
    return error_of(response, seconds_of_retry_after(response.headers.get("retry-after"), now()))


def now() -> datetime:
    return datetime.now(timezone.utc)


def seconds_of_retry_after(value: str | None, at: datetime) -> float | None:
    """RFC 9110, 10.2.3: seconds or a date."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - at).total_seconds())


def wait_or_raise(policy: Policy, attempt: int, error: WayleaveError) -> Plan[None]:
    seconds = policy.pause_before_retry(attempt, error)
    if seconds is None:
        raise error
    yield from pause(seconds)


def request(request: Request, policy: Policy) -> Plan[Response]:
    """Sends until it succeeds, fails permanently, or no retries are left."""
    attempt = 0
    while True:
        try:
            response = yield from send(request)
        except (ConnectionError, TimeoutError) as error:
            failure: WayleaveError = error
        else:
            refused = failure_of(response)
            if refused is None:
                return response
            failure = refused
        yield from wait_or_raise(policy, attempt, failure)
        attempt += 1
