"""Lists that the client shares with the service. Made from contract/ by `npm run contract`; do not edit."""

from __future__ import annotations

EXTENSIONS = {
    "csv": "csv",
    "json": "json",
    "geojson": "geojson",
    "kml": "kml",
    "shp": "shp.zip",
    "geoparquet": "parquet",
    "gpkg": "gpkg",
    "fgb": "fgb",
    "pmtiles": "pmtiles",
}
"""The extension of a file, by its download format."""

COMPRESSED_FORMATS = frozenset(
    {
        "shp",
        "geoparquet",
        "pmtiles",
    }
)
"""The formats whose files are already compressed: a compressed transfer would not save anything."""
