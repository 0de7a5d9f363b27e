import { VISIBILITIES, type Visibility } from '@wayleave/contract/visibilities'
import { boolean, choice, integer, text, textList } from './parsers.ts'
import { setting } from './setting.ts'

/** Slightly less than the longest string that V8 can hold, because a GeoJSON feature is parsed as one. */
const MAX_TEXT_BYTES = 500 * 1024 ** 2

/** What is read, in which bounds, and what a version is made of. */
export const publishingSettings = {
  defaultVisibility: setting(
    'WAYLEAVE_DEFAULT_VISIBILITY',
    'public' as Visibility,
    choice(...VISIBILITIES),
    'Who sees a new dataset if its publisher does not say so: public, open (its data needs no key), private (only organizations with a grant) or draft (only its publishers and administrators).',
  ),
  publishMemory: setting(
    'WAYLEAVE_PUBLISH_MEMORY',
    null as number | null,
    integer(512, 10_000_000),
    'Megabytes of memory that the compilation of one file may use. Without it, half of the memory of the machine or the container, for uploads divided by WAYLEAVE_PUBLISH_JOBS, and at least 800.',
  ),
  publishSeconds: setting(
    'WAYLEAVE_PUBLISH_SECONDS',
    14_400,
    integer(1, 604_800),
    'Seconds after which the compilation of a file is ended and the file refused.',
  ),
  readSeconds: setting(
    'WAYLEAVE_READ_SECONDS',
    120,
    integer(1, 86_400),
    'Seconds for which the compilation may wait for the next rows of a GeoPackage before the file is refused. A view in it may take long to compute, or may have no end.',
  ),
  maxUploadBytes: setting(
    'WAYLEAVE_MAX_UPLOAD_BYTES',
    4 * 1024 ** 3,
    integer(1, Number.MAX_SAFE_INTEGER),
    'The largest file that may be published, in bytes, also when it is unpacked.',
  ),
  maxFeatureBytes: setting(
    'WAYLEAVE_MAX_FEATURE_BYTES',
    64 * 1024 ** 2,
    integer(1024, MAX_TEXT_BYTES),
    'The largest single feature or row that may be published, in bytes of its file.',
  ),
  maxRows: setting('WAYLEAVE_MAX_ROWS', 1_000_000_000, integer(1, 2_000_000_000), 'Max rows of a dataset.'),
  maxColumns: setting('WAYLEAVE_MAX_COLUMNS', 1000, integer(1, 10_000), 'Max columns of a dataset.'),
  maxNesting: setting(
    'WAYLEAVE_MAX_NESTING',
    64,
    integer(1, 1000),
    'How deep a nested value in a published file may be.',
  ),
  maxExpansion: setting(
    'WAYLEAVE_MAX_EXPANSION',
    200,
    integer(2, 100_000),
    'How many times larger than its file what it holds may be: a compressed file when it is unpacked, and the values of all rows of any file, also those that it stores once and repeats. Not checked below 64 MB, or 1 GB of values of Parquet and Arrow. Sixteen times as much may be written to the disk during the compilation.',
  ),
  sandbox: setting(
    'WAYLEAVE_SANDBOX',
    'auto' as 'auto' | 'require' | 'off',
    choice('auto', 'require', 'off'),
    'The sandbox of the process that reads published files: no network, no other files, limits of memory, time and processes. `auto` uses what works on this machine and says at start what that is; `require` refuses files unless bubblewrap works; `off` uses none, and the process still gets none of the service’s environment.',
  ),
  gdal: setting(
    'WAYLEAVE_GDAL',
    'ogr2ogr',
    text(),
    'GDAL’s program ogr2ogr, by name or path, which reads GML, MapInfo, File Geodatabase and .xls files. "off" refuses these formats.',
  ),
  gdalSeconds: setting(
    'WAYLEAVE_GDAL_SECONDS',
    600,
    integer(1, 86_400),
    'Seconds after which ogr2ogr is ended and the file refused.',
  ),
  gdalMegabytes: setting(
    'WAYLEAVE_GDAL_MEGABYTES',
    4096,
    integer(256, 1_048_576),
    'The address space that ogr2ogr may use, in megabytes.',
  ),
  crs: setting(
    'WAYLEAVE_CRS',
    [] as string[],
    textList(),
    'EPSG codes that OGC API - Features offers beside CRS84, 4326 and 3857, separated by commas.',
  ),
  csvFormulas: setting(
    'WAYLEAVE_CSV_FORMULAS',
    'keep' as 'keep' | 'escape',
    choice('keep', 'escape'),
    'Texts that spreadsheets execute (they begin with =, +, -, @, a tab or a carriage return) in CSV pages and downloads: `keep` writes them as they are published; `escape` puts an apostrophe before them. Numbers are never changed.',
  ),
  tiles: setting(
    'WAYLEAVE_TILES',
    true,
    boolean(),
    'Build the vector tiles of every version that is published. Without it they are built when they are first asked for, or by `wayleave tiles`.',
  ),
  tileMaxZoom: setting(
    'WAYLEAVE_TILE_MAX_ZOOM',
    14,
    integer(0, 16),
    'The deepest zoom for which vector tiles are built. Data that needs less gets less; maps enlarge the deepest tiles.',
  ),
} as const
