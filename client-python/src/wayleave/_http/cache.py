"""Downloads kept on disk, and used again after the service has confirmed their ETag.

An entry is one file: a line of JSON that describes the bytes, then the bytes. It is written under a temporary
name and renamed, so that other processes see it whole or not at all, and a crash leaves a temporary file.
Its checksum is verified when it is read. No failure of the cache fails a call.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from wayleave._http.sink import Representation

DEFAULT_CACHE_BYTES = 2_000_000_000
ABANDONED_AFTER = 24 * 60 * 60.0
SUFFIX = ".entry"
TEMPORARY = ".tmp"


@dataclass(frozen=True)
class Entry:
    """A cached download."""

    representation: Representation
    content: bytes


class Cache:
    """A folder of downloads, bounded in size; the least recently used go first."""

    def __init__(self, folder: Path, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self.folder = folder
        self.max_bytes = max_bytes

    def find(self, address: str) -> Entry | None:
        """The entry of an address, if there is one and it is intact."""
        path = self._path(address)
        try:
            with path.open("rb") as file:
                representation = Representation(**json.loads(file.readline()))
                content = file.read()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            self._remove(path)
            return None
        if representation.url != address or _digest(content) != representation.sha256:
            self._remove(path)
            return None
        with suppress(OSError):
            os.utime(path)
        return Entry(representation, content)

    def keep(self, address: str, representation: Representation, content: bytes) -> None:
        """Keep the bytes as they came over the network, in place of an older entry of the same address."""
        if representation.etag is None or len(content) > self.max_bytes:
            return
        described = Representation(
            address, representation.etag, representation.encoding, len(content), _digest(content)
        )
        temporary: Path | None = None
        try:
            # Only this user may read it: the data may be paid for.
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(suffix=TEMPORARY, dir=self.folder)
            temporary = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(asdict(described)).encode() + b"\n")
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path(address))
        except OSError:
            if temporary is not None:
                self._remove(temporary)
            return
        self._evict()

    def clear(self) -> None:
        """Remove all entries."""
        for path in self._files():
            self._remove(path)

    def _evict(self) -> None:
        entries: list[tuple[float, int, Path]] = []
        for path in self._files():
            with suppress(OSError):
                stat = path.stat()
                if path.suffix == SUFFIX:
                    entries.append((stat.st_mtime, stat.st_size, path))
                elif time.time() - stat.st_mtime > ABANDONED_AFTER:
                    self._remove(path)
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.max_bytes:
                return
            self._remove(path)
            total -= size

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return [path for path in self.folder.iterdir() if path.suffix in (SUFFIX, TEMPORARY)]
        return []

    def _path(self, address: str) -> Path:
        return self.folder / (hashlib.sha256(address.encode()).hexdigest()[:40] + SUFFIX)

    def _remove(self, path: Path) -> None:
        # Another process may have removed it, or, on Windows, may be reading it.
        with suppress(OSError):
            path.unlink()


def default_folder() -> Path:
    """Where programs of this user keep what can be fetched again."""
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "wayleave" / "cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "wayleave"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wayleave"


def _digest(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()
