from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wayleave._extras import need
from wayleave._http.deliver import Progress


@contextmanager
def reporter(progress: bool | Progress, title: str) -> Iterator[Progress]:
    """Yields the progress callback: one that does nothing, the caller's function, or a progress bar."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda _received, _total: None
    else:
        tqdm = need("tqdm.auto", "progress", "A progress bar").tqdm
        with tqdm(desc=title, unit="B", unit_scale=True, unit_divisor=1024) as bar:

            def show(received: int, total: int | None) -> None:
                bar.total = total
                bar.update(received - bar.n)

            yield show
