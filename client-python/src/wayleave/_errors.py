"""The errors of this package.

WayleaveError
├── APIStatusError           the service responded with an error
│   ├── BadRequestError          400
│   ├── AuthenticationError      401
│   ├── PaymentRequiredError     402
│   ├── PermissionDeniedError    403
│   ├── NotFoundError            404
│   ├── ConflictError            409
│   ├── RateLimitError           429
│   └── ServerError              500 and above
├── ConnectionError          the service could not be reached, or the connection broke
├── TimeoutError             the service did not respond in time
├── PublishError             an uploaded file could not be published
├── IntegrityError           what arrived is not what the service sent
└── MissingExtraError        a library is not installed

WayleaveWarning              a result that is probably not what the caller wanted
"""

from __future__ import annotations

import builtins
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wayleave._http.steps import Response


class WayleaveError(Exception):
    """The root of all errors of this package."""


class APIStatusError(WayleaveError):
    """The service responded with an error. The subclasses mirror the statuses."""

    status: int
    """The HTTP status."""
    code: str
    """The service's stable name for the problem, such as `add-on-missing`; empty if it gave none."""
    detail: str
    """The service's sentence for this case."""
    request_id: str | None
    """What to name when asking the service's operator about it."""
    errors: list[dict[str, str]]
    """For invalid input: each wrong value's `path` and `message`."""
    contact: str | None
    """Where to ask for add-ons and credits, if the operator configured it."""
    retry_after: float | None
    """Seconds after which the service asks to try again."""
    hint: str
    """A suggestion of the client, such as the name that a misspelt one resembles; often empty."""

    def __init__(
        self,
        status: int,
        code: str = "",
        detail: str = "",
        request_id: str | None = None,
        errors: list[dict[str, str]] | None = None,
        contact: str | None = None,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        # All arguments in order: an exception is pickled by calling its class with `args` again.
        super().__init__(status, code, detail, request_id, errors, contact, retry_after, hint)
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id
        self.errors = errors or []
        self.contact = contact
        self.retry_after = retry_after
        self.hint = hint

    def __str__(self) -> str:
        name = f"{self.status} {self.code}".strip()
        sentences = [self.detail, self.hint, f"See {self.contact}." if self.contact else ""]
        text = " ".join(sentence for sentence in sentences if sentence)
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{name}: {text}{request}" if text else f"{name}{request}"

    def add_hint(self, hint: str) -> None:
        """Put a suggestion into the message."""
        self.hint = hint
        self.args = (*self.args[:-1], hint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class BadRequestError(APIStatusError):
    """400: a parameter is wrong; `errors` names it."""


class AuthenticationError(APIStatusError):
    """401: the key is missing, unknown, expired, revoked or was replaced by rotation."""


class PaymentRequiredError(APIStatusError):
    """402: the organization has too few credits for the download."""


class PermissionDeniedError(APIStatusError):
    """403: the key lacks a permission, or its organization an add-on; `detail` names it."""


class NotFoundError(APIStatusError):
    """404: there is no such dataset, format, version or sample."""


class ConflictError(APIStatusError):
    """409: the request conflicts with the current state."""


class RateLimitError(APIStatusError):
    """429: too many requests; `retry_after` says how long to wait."""


class ServerError(APIStatusError):
    """500 and above: the service failed or is overloaded."""


class ConnectionError(WayleaveError, builtins.ConnectionError):
    """The service could not be reached, or the connection broke."""


class TimeoutError(WayleaveError, builtins.TimeoutError):
    """The service did not respond in time."""


class PublishError(WayleaveError):
    """An uploaded file could not be published."""

    def __init__(
        self, detail: str, problems: list[dict[str, Any]] | None = None, problem_count: int = 0
    ) -> None:
        super().__init__(detail, problems, problem_count)
        self.detail = detail
        """The service's sentence."""
        self.problems = problems or []
        """The first rows that cannot be published: `row` and `message` of each."""
        self.problem_count = problem_count
        """How many rows cannot be published."""

    def __str__(self) -> str:
        rows = [f"  row {one.get('row')}: {one.get('message')}" for one in self.problems]
        hidden_count = self.problem_count - len(rows)
        return "\n".join(
            [self.detail, *rows, *([f"  and {hidden_count} more"] if rows and hidden_count > 0 else [])]
        )


class IntegrityError(WayleaveError):
    """What arrived is not what the service sent."""


class MissingExtraError(WayleaveError, ImportError):
    """A library that the operation needs is not installed."""


class WayleaveWarning(UserWarning):
    """A result that is probably not what the caller wanted, such as none at all for a swapped bbox."""


_BY_STATUS: dict[int, type[APIStatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: PaymentRequiredError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(response: Response, retry_after: float | None) -> APIStatusError | None:
    """The error that a response stands for, or None if it is a success."""
    status = response.status
    if 200 <= status < 300:
        return None
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else APIStatusError)
    problem = _problem(response.body)
    text = {name: value for name, value in problem.items() if isinstance(value, str)}
    detail = text.get("detail") or text.get("title", "")
    if 300 <= status < 400:
        # Following the redirect would send the key to another address.
        detail = f"The address redirects to {response.headers.get('location', 'nowhere')}; use that base_url."
    errors = problem.get("errors")
    return kind(
        status,
        text.get("code", ""),
        detail,
        text.get("requestId") or response.headers.get("x-request-id"),
        errors if isinstance(errors, list) else None,
        text.get("contact"),
        retry_after,
    )


def _problem(body: bytes) -> dict[str, Any]:
    """The problem document; empty for a proxy's error page, whose status says enough."""
    try:
        problem = json.loads(body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
