"""Where the bytes of a download go: memory or a file that can be resumed after a break."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Protocol

from wayleave._errors import IntegrityError

BLOCK = 1 << 20


@dataclass(frozen=True)
class Representation:
    """The bytes that a download delivers, identified by their strong ETag."""

    url: str
    etag: str | None
    encoding: str
    length: int | None
    sha256: str | None
    """Base64, as in Repr-Digest (RFC 9530)."""


class Sink(Protocol):
    """Takes the bytes of one representation in order."""

    representation: Representation | None
    size: int

    def begin(self, representation: Representation) -> None:
        """Forget what came before; these bytes begin now."""

    def write(self, chunk: bytes) -> None:
        """Take some more."""


class MemorySink:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.representation: Representation | None = None
        self._chunks: list[bytes] = []
        self.size = 0

    def begin(self, representation: Representation) -> None:
        self.representation = representation
        self._chunks = []
        self.size = 0

    def write(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self.size += len(chunk)

    def raw(self) -> bytes:
        """The bytes as they came, verified."""
        _check(self.representation, iter(self._chunks))
        joined = b"".join(self._chunks)
        self._chunks = [joined]
        return joined

    def content(self) -> bytes:
        """The bytes verified and decompressed."""
        encoding = self.representation.encoding if self.representation else "identity"
        return unpacked(self.raw(), encoding)


def unpacked(raw: bytes, encoding: str) -> bytes:
    """The bytes without their content encoding."""
    if encoding != "gzip":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise IntegrityError(f"The download cannot be unpacked: {error}.") from error


class PartFile:
    """`<path>.part` until it is complete.

    `<path>.part.json` has the ETag and the length, so that the next run can resume.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._part = path.with_name(path.name + ".part")
        self._note = path.with_name(path.name + ".part.json")
        self._unpacked = path.with_name(path.name + ".part.unpacked")
        self._file: IO[bytes] | None = None
        self.representation = self._remembered()
        self.size = self._part.stat().st_size if self.representation else 0

    def _remembered(self) -> Representation | None:
        try:
            note = Representation(**json.loads(self._note.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return note if self._part.is_file() else None

    def begin(self, representation: Representation) -> None:
        self.close()
        # Truncate first, then write the note, so that a note never describes the bytes of another file.
        self._file = self._part.open("wb", buffering=BLOCK)
        self._note.write_text(json.dumps(asdict(representation)), "utf-8")
        self.representation = representation
        self.size = 0

    def write(self, chunk: bytes) -> None:
        if self._file is None:
            self._file = self._part.open("ab", buffering=BLOCK)
        self._file.write(chunk)
        self.size += len(chunk)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self) -> Path:
        """The whole file under its own name, checked, and never half of it."""
        self.close()
        whole = self._part
        try:
            with self._part.open("rb") as part:
                _check(self.representation, iter(lambda: part.read(BLOCK), b""))
            if self.representation is not None and self.representation.encoding == "gzip":
                with gzip.open(self._part, "rb") as packed, self._unpacked.open("wb") as plain:
                    shutil.copyfileobj(packed, plain, BLOCK)
                whole = self._unpacked
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            self._discard()
            raise IntegrityError(f"The download cannot be unpacked: {error}.") from error
        except IntegrityError:
            self._discard()
            raise
        whole.replace(self.path)
        self._discard()
        return self.path

    def _discard(self) -> None:
        for leftover in (self._part, self._note, self._unpacked):
            with suppress(FileNotFoundError):
                leftover.unlink()


def _check(representation: Representation | None, chunks: Iterator[bytes]) -> None:
    if representation is None or representation.sha256 is None:
        return
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    if base64.b64encode(digest.digest()).decode() != representation.sha256:
        raise IntegrityError("The checksum of the download is not the one that the service gave.")
