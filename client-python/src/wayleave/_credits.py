"""What a call cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Credits:
    """Credits that a call was charged, and what is left."""

    charged: int
    """By the last call. 0 for metadata, samples, features, cached reads and repeated downloads."""
    remaining: int | None
    """The balance that the service told last; None until a download has told it, and for platform keys."""


class Receipt:
    """Collects what the responses of one call say of credits."""

    def __init__(self) -> None:
        self._charged: dict[str, int] = {}
        self._remaining: int | None = None

    def note(self, headers: Mapping[str, str]) -> None:
        """Take the headers of one response.

        Every attempt for the same file repeats the header, and a failed delivery is refunded before it is
        charged again: so a file counts once, at its highest charge.
        """
        charged, remaining = headers.get("credits-charged", ""), headers.get("credits-remaining", "")
        if charged.isdigit():
            file = headers.get("etag", "")
            self._charged[file] = max(int(charged), self._charged.get(file, 0))
        if remaining.isdigit():
            self._remaining = int(remaining)

    def credits(self) -> Credits:
        """What the responses so far say."""
        return Credits(sum(self._charged.values()), self._remaining)
