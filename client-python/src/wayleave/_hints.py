"""Suggestions for misspelt names, added to the service's own errors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from wayleave._errors import APIStatusError

MAX_LISTED = 20
CQL2_JSON = ("op", "args", "property")


def name_hint(name: str, names: Sequence[str], kind: str) -> str:
    """The most similar name, else the names that there are."""
    similar = _similar(name, names)
    if similar is not None:
        return f'Did you mean "{similar}"?'
    if not names:
        return f"There are no {kind}."
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"The {kind} are {', '.join(names[:MAX_LISTED])}{more}."


def column_hint(error: APIStatusError, sent: str, columns: Sequence[str]) -> str | None:
    """For a word that the service complains of, that the caller sent, and that is not a column."""
    complaint = " ".join([error.detail, *(one.get("message", "") for one in error.errors)])
    words = re.findall(r'"([^"]+)"|([^\W\d]\w*)', complaint)
    sent_words = set(re.findall(r"\w+", sent))
    suspects = [
        quoted or bare
        for quoted, bare in words
        if (quoted or bare) not in (*columns, *CQL2_JSON)
        and (quoted in sent if quoted else bare in sent_words)
    ]
    # A word that resembles a column is more likely the misspelt one than another word of the sentence.
    suspects.sort(key=lambda word: _similar(word, columns) is None)
    return name_hint(suspects[0], columns, "columns") if suspects else None


def _similar(name: str, names: Sequence[str]) -> str | None:
    by_lower_case = {one.lower(): one for one in reversed(names)}
    similar = difflib.get_close_matches(name.lower(), by_lower_case, 1)
    return by_lower_case[similar[0]] if similar else None
