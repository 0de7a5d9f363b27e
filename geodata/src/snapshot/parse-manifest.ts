import { GEOMETRY_TYPES } from '../feature.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { FORMAT_VERSION, type Manifest, SNAPSHOT_FILES } from './manifest.ts'

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isFlag: Check = (value) => typeof value === 'boolean'
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const nullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check, length?: number): Check =>
  (value) =>
    Array.isArray(value) && (length === undefined || value.length === length) && value.every(check)
const shape =
  (members: Record<string, Check>): Check =>
  (value) =>
    isRecord(value) && Object.entries(members).every(([name, check]) => check(value[name]))
const recordOf =
  (isKey: Check, check: Check): Check =>
  (value) =>
    isRecord(value) && Object.entries(value).every(([name, member]) => isKey(name) && check(member))

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The manifest's schema. It is written by hand because every process that compiles or builds loads it, and
 * the schema library of the server takes longer to load than most of those processes need the manifest for.
 */
const MEMBERS: Record<keyof Manifest, Check> = {
  formatVersion: oneOf(FORMAT_VERSION),
  rows: isCount,
  located: isCount,
  columns: listOf(
    shape({
      name: isText,
      type: oneOf('boolean', 'integer', 'number', 'text', 'date', 'timestamp', 'json'),
      nullable: isFlag,
    }),
  ),
  geometryType: oneOf(null, 'Geometry', ...GEOMETRY_TYPES),
  geometryTypes: listOf(oneOf(...GEOMETRY_TYPES)),
  hasZ: isFlag,
  bbox: nullOr(listOf(isNumber, 4)),
  id: shape({
    column: nullOr(isText),
    type: oneOf('integer', 'text'),
    name: optional(isText),
    isRowNumber: optional(isFlag),
  }),
  timeColumn: nullOr(isText),
  timeExtent: optional(nullOr(listOf(isText, 2))),
  source: shape({
    file: isText,
    format: isText,
    crs: nullOr(isText),
    bytes: isCount,
    reader: optional(isCount),
  }),
  notes: listOf(isText),
  tiles: optional(isFlag),
  statistics: optional(recordOf(isText, shape({ nulls: isCount, distinct: isCount, isExact: isFlag }))),
  // A name is joined to the folder's path, so it must not contain a path out of the folder.
  files: recordOf(
    matches(/^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$/),
    shape({ bytes: isCount, sha256: matches(/^[0-9a-f]{64}$/) }),
  ),
}

const REQUIRED_FILES = [SNAPSHOT_FILES.rows, SNAPSHOT_FILES.pack, SNAPSHOT_FILES.index]

/** Parses the text of a manifest. Throws a DamagedSnapshotError whose message says what is wrong. */
export function parseManifest(text: string): Manifest {
  const name = SNAPSHOT_FILES.manifest
  if (text.trim() === '') throw new DamagedSnapshotError(name, `${name} is empty.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new DamagedSnapshotError(name, `${name} is not complete JSON.`, { cause })
  }
  return checkManifest(value)
}

/** Throws a DamagedSnapshotError that says what is wrong, unless the value is a manifest. */
export function checkManifest(value: unknown): Manifest {
  const name = SNAPSHOT_FILES.manifest
  if (!isRecord(value)) throw new DamagedSnapshotError(name, `${name} is not a JSON object.`)
  const { formatVersion } = value
  if (isCount(formatVersion) && formatVersion !== FORMAT_VERSION) {
    throw new DamagedSnapshotError(
      name,
      `${name} has format ${formatVersion}, and this program reads format ${FORMAT_VERSION}. ` +
        'Run the version of Wayleave that published it, or a newer one.',
    )
  }
  for (const [member, check] of Object.entries(MEMBERS)) {
    if (!check(value[member])) throw new DamagedSnapshotError(name, `${name} has no valid "${member}".`)
  }
  const manifest = value as unknown as Manifest
  if (manifest.located > manifest.rows) {
    throw new DamagedSnapshotError(name, `${name} has more features with a place than rows.`)
  }
  for (const file of REQUIRED_FILES) {
    if (!manifest.files[file]) throw new DamagedSnapshotError(name, `${name} does not name ${file}.`)
  }
  return manifest
}
