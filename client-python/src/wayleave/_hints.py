"""Suggestions for misspelt names, added to the service's own errors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from wayleave._errors import APIStatusError

MAX_LISTED = 20


def name_hint(name: str, names: Sequence[str], kind: str) -> str:
    """The most similar name, else the names that there are."""
    by_lower_case = {one.lower(): one for one in reversed(names)}
    similar = difflib.get_close_matches(name.lower(), by_lower_case, 1)
    if similar:
        return f'Did you mean "{by_lower_case[similar[0]]}"?'
    if not names:
        return f"There are no {kind}."
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"The {kind} are {', '.join(names[:MAX_LISTED])}{more}."


def column_hint(error: APIStatusError, sent: str, columns: Sequence[str]) -> str | None:
    """For the first word that the service complains of, that the caller sent, and that is no column."""
    complaint = " ".join([error.detail, *(one.get("message", "") for one in error.errors)])
    words = re.findall(r'"([^"]+)"|([^\W\d]\w*)', complaint)
    sent_words = set(re.findall(r"\w+", sent))
    for quoted, bare in words:
        word = quoted or bare
        if word not in columns and (word in sent_words or (quoted and quoted in sent)):
            return name_hint(word, columns, "columns")
    return None
