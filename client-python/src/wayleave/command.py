"""`wayleave-get`: datasets from the command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from wayleave._client import Client
from wayleave._errors import WayleaveError
from wayleave._extras import has
from wayleave._version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """0 for success, 1 for a failure, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        with Client(base_url=options.base_url) as client:
            if options.table is None:
                _list_datasets(client)
            else:
                bar = not options.quiet and sys.stderr.isatty() and has("tqdm")
                path = client.download(
                    options.table, options.format, options.output, version=options.version, progress=bar
                )
                print(path)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe early, as `head` does. Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (WayleaveError, OSError) as error:
        print(f"wayleave-get: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("wayleave-get: interrupted; run the same command again to go on.", file=sys.stderr)
        return 130
    return 0


def _list_datasets(client: Client) -> None:
    datasets = client.datasets()
    width = max((len(dataset.table) for dataset in datasets), default=0)
    for dataset in datasets:
        print(f"{dataset.table:<{width}}  {dataset.rows:>12,} rows  {dataset.title}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wayleave-get",
        description="Download a dataset of a Wayleave service; without a table, list the datasets.",
        epilog="The key is read from WAYLEAVE_API_KEY. A download that broke off goes on where it stopped.",
    )
    parser.add_argument("table", nargs="?", help="the dataset's name")
    parser.add_argument(
        "format", nargs="?", default="geojson", help="geojson (default), csv, json, kml, shp, …"
    )
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="a file or folder (default: the working folder)"
    )
    parser.add_argument("--archive", dest="version", type=int, metavar="VERSION", help="an older version")
    parser.add_argument(
        "--base-url", metavar="URL", help="the service's address (default: WAYLEAVE_BASE_URL)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress bar")
    parser.add_argument("--version", action="version", version=f"wayleave-get {__version__}")
    return parser
