/**
 * Makes src/epsg.tsv, the list of coordinate reference systems that crs.ts knows, from the development
 * dependency epsg-index and the proj.db of an installed PROJ, which knows the authority's axis order, the
 * names that ESRI's .prj files use and the shifts between datums:
 *
 *   node geodata/scripts/make-epsg-list.ts <path to proj.db> > geodata/src/epsg.tsv
 */
import { DatabaseSync } from 'node:sqlite'
import epsgIndex from 'epsg-index/all.json' with { type: 'json' }
import proj4 from 'proj4'

interface IndexEntry {
  code: string
  kind: string
  name: string
  proj4: string | null
  unit: string | null
  /** North, west, south, east. */
  bbox: [number, number, number, number] | null
}

/**
 * Strings of epsg-index that PROJ itself contradicts by kilometres: grads taken for degrees, meridians
 * counted twice, projections from the pole. A CRS that is refused is better than one that is wrong.
 */
const WRONG = new Set([
  '3058',
  '4660',
  '4727',
  '7400',
  '8044',
  '8045',
  '9311',
  '37225',
  '102034',
  '102036',
  '102191',
  '102192',
  '104139',
  '104140',
])

/** For these the horizontal part alone matters, and a proj4 string describes it. */
const KINDS = new Set(['CRS-PROJCRS', 'CRS-GEOGCRS', 'CRS-GEOG3DCRS', 'CRS-COMPOUNDCRS'])

const projDatabase = process.argv[2]
if (!projDatabase) throw new Error('usage: node make-epsg-list.ts <path to proj.db>')
const database = new DatabaseSync(projDatabase, { readOnly: true })
const index = epsgIndex as unknown as { [code: string]: IndexEntry }

const northFirst = new Set<string>()
const axes = database.prepare(`
  SELECT crs.code, axis.name, axis.orientation
  FROM (SELECT code, coordinate_system_auth_name AS authority, coordinate_system_code AS cs
        FROM projected_crs WHERE auth_name = 'EPSG'
        UNION ALL SELECT code, coordinate_system_auth_name, coordinate_system_code
        FROM geodetic_crs WHERE auth_name = 'EPSG') crs
  JOIN axis ON axis.coordinate_system_auth_name = crs.authority
   AND axis.coordinate_system_code = crs.cs AND axis.coordinate_system_order = 1`)
for (const axis of axes.all()) {
  if (/^(north|lat)/i.test(String(axis.name)) || axis.orientation === 'north')
    northFirst.add(String(axis.code))
}
for (const row of database.prepare('SELECT code, horiz_crs_code AS inner FROM compound_crs').all()) {
  if (northFirst.has(String(row.inner))) northFirst.add(String(row.code))
}

const esriNames = new Map<string, string>()
const aliases = database.prepare(`SELECT code, alt_name FROM alias_name WHERE source = 'ESRI'
  AND auth_name = 'EPSG' AND table_name IN ('projected_crs', 'geodetic_crs')`)
for (const alias of aliases.all()) esriNames.set(String(alias.code), String(alias.alt_name))

interface Shift {
  parameters: string
  accuracy: number
  south: number
  north: number
  west: number
  east: number
}

/**
 * The published transformations to WGS84 by three or seven parameters, by the geographic CRS they start from.
 * epsg-index lacks many and prefers grids, which we do not carry.
 */
const shifts = new Map<string, Shift[]>()
const helmerts = database.prepare(`
  SELECT h.source_crs_code AS source, h.method_name AS method, h.tx, h.ty, h.tz, h.rx, h.ry, h.rz,
         h.scale_difference AS scale, 
         (SELECT conv_factor FROM unit_of_measure u
          WHERE u.auth_name = 'EPSG' AND u.code = h.scale_difference_uom_code) AS scaleUnit,
         (SELECT conv_factor FROM unit_of_measure u
          WHERE u.auth_name = 'EPSG' AND u.code = h.rotation_uom_code) AS rotationUnit,
          coalesce(h.accuracy, 999) + (h.target_crs_code <> 4326) + 10 * (h.auth_name <> 'EPSG') AS accuracy,
         extent.south_lat AS south, extent.north_lat AS north, extent.west_lon AS west, extent.east_lon AS east
  FROM helmert_transformation h
  JOIN usage ON usage.object_table_name = 'helmert_transformation'
   AND usage.object_auth_name = h.auth_name AND usage.object_code = h.code
  JOIN extent ON extent.auth_name = usage.extent_auth_name AND extent.code = usage.extent_code
  WHERE h.deprecated = 0 AND h.auth_name IN ('EPSG', 'ESRI') AND h.target_crs_auth_name = 'EPSG'
    AND (h.target_crs_code = 4326 OR h.target_crs_code IN (
      SELECT source_crs_code FROM helmert_transformation WHERE target_crs_code = 4326 AND auth_name = 'EPSG'
      AND deprecated = 0 AND tx = 0 AND ty = 0 AND tz = 0 AND coalesce(rx, 0) = 0 AND coalesce(rz, 0) = 0))
    AND h.px IS NULL AND h.rate_tx IS NULL AND NOT EXISTS (
      SELECT 1 FROM supersession s WHERE s.superseded_table_name = 'helmert_transformation'
      AND s.superseded_auth_name = h.auth_name AND s.superseded_code = h.code)
  ORDER BY h.code DESC`)
for (const row of helmerts.all()) {
  const n = (name: string) => Number(row[name] ?? 0)
  let parameters = [n('tx'), n('ty'), n('tz')]
  if (row.rx !== null) {
    // A PROJ string has arc-seconds and parts per million.
    const arcSecond = Math.PI / 648000
    const turn = n('rotationUnit') / arcSecond
    const million = n('scaleUnit') * 1e6
    const sign = String(row.method).startsWith('Coordinate Frame') ? -1 : 1
    parameters = [
      ...parameters,
      sign * turn * n('rx'),
      sign * turn * n('ry'),
      sign * turn * n('rz'),
      million * n('scale'),
    ]
  }
  const west = n('west')
  const east = n('east') < west ? n('east') + 360 : n('east')
  const shift = {
    parameters: parameters.map((value) => Number(value.toFixed(9)) || 0).join(','),
    accuracy: n('accuracy'),
  }
  const source = String(row.source)
  shifts.set(source, [
    ...(shifts.get(source) ?? []),
    { ...shift, south: n('south'), north: n('north'), west, east },
  ])
}

const geographicOf = new Map<string, string>()
for (const row of database
  .prepare(`SELECT code, code AS base FROM geodetic_crs WHERE auth_name IN ('EPSG', 'ESRI')
  UNION ALL SELECT code, geodetic_crs_code FROM projected_crs WHERE auth_name IN ('EPSG', 'ESRI')`)
  .all()) {
  geographicOf.set(String(row.code), String(row.base))
}
for (const row of database.prepare('SELECT code, horiz_crs_code AS inner FROM compound_crs').all()) {
  const base = geographicOf.get(String(row.inner))
  if (base) geographicOf.set(String(row.code), base)
}

// Datums counted from Oslo, Jakarta or Lisbon have no shift of their own: only a turn to Greenwich. A 3D CRS
// has the shifts of the 2D one of its datum.
const twins = new Map<string, string>()
for (const row of database
  .prepare(`
  SELECT source_crs_code AS code, target_crs_code AS twin FROM other_transformation
  WHERE method_name = 'Longitude rotation' AND deprecated = 0
  UNION ALL SELECT three.code, two.code FROM geodetic_crs three JOIN geodetic_crs two
    ON two.datum_code = three.datum_code AND two.datum_auth_name = three.datum_auth_name
  WHERE three.type = 'geographic 3D' AND two.type = 'geographic 2D' AND two.deprecated = 0`)
  .all()) {
  twins.set(String(row.code), String(row.twin))
}

/** The most accurate shift that holds for nearly all of the CRS's area, else the one that holds for most. */
function shiftFor(entry: IndexEntry): string | null {
  const geographic = geographicOf.get(entry.code) ?? ''
  const candidates = shifts.get(geographic) ?? shifts.get(twins.get(geographic) ?? '') ?? []
  const area = box(entry)
  if (!area) return candidates[0]?.parameters ?? null
  const [west, south, east, north] = area
  const covered = (shift: Shift): number => {
    const height = Math.min(north, shift.north) - Math.max(south, shift.south)
    const widths = [-360, 0, 360].map(
      (turn) => Math.min(east, shift.east + turn) - Math.max(west, shift.west + turn),
    )
    const whole = (east - west) * (north - south)
    return whole > 0 ? (Math.max(0, height) * Math.max(0, ...widths)) / whole : 0
  }
  const ranked = candidates
    .map((shift) => ({ shift, part: Math.min(covered(shift), 0.8) }))
    .filter(({ part }) => part > 0.05)
    .sort((a, b) => b.part - a.part || a.shift.accuracy - b.shift.accuracy)
  return ranked[0]?.shift.parameters ?? null
}

function definition(entry: IndexEntry): string | null {
  if (!KINDS.has(entry.kind) || typeof entry.proj4 !== 'string' || WRONG.has(entry.code)) return null
  const shift = shiftFor(entry)
  let text = entry.proj4
  if (!/\+datum=WGS84|\+nadgrids=@null/.test(text)) {
    text = text.replace(/ ?\+nadgrids=(".*?"|\S+)/, '')
    if (shift) {
      text = text.replace(/ ?\+datum=NAD83/, ' +ellps=GRS80').replace(/ ?\+towgs84=\S+/, '')
      text += ` +towgs84=${shift}`
    }
  }
  text = text
    .replace(/ ?\+(no_defs|type=crs|wktext|vunits=\S+|vto_meter=\S+|geoidgrids=\S+)/g, '')
    // A shift of nothing still costs a way through geocentric coordinates and a last digit.
    .replace(/ ?\+towgs84=0(,0)*(?= |$)/, '')
    .replace(/(\+towgs84=[^, ]+,[^, ]+,[^, ]+),0,0,0,0(?= |$)/, '$1')
    .replace(/ ?\+units=m(?= |$)/, '')
    .trim()
  // A longlat string cannot say that its angles are grads.
  if (text.includes('+proj=longlat') && !/^degree/.test(entry.unit ?? 'degree')) return null
  if (/\+proj=geocent/.test(text)) return null
  return survivesRoundTrip(entry, text) ? text : null
}

/** proj4 does not have every projection. */
function survivesRoundTrip(entry: IndexEntry, text: string): boolean {
  const [west, south, east, north] = box(entry) ?? [-1, -1, 1, 1]
  const middle = [(west + east) / 2, (south + north) / 2]
  try {
    const converter = proj4(text)
    const back = converter.inverse(converter.forward(middle))
    return Math.abs(back[1]! - middle[1]!) < 1e-4
  } catch {
    return false
  }
}

/** West, south, east, north; east is above 180 where the area crosses the antimeridian. */
function box(entry: IndexEntry): [number, number, number, number] | null {
  if (!entry.bbox) return null
  const [north, west, south, east] = entry.bbox
  return [west, south, east < west ? east + 360 : east, north]
}

let left = 0
process.stdout.write('code\tname\tESRI name\tnorthing first\tarea\tdefinition\n')
for (const entry of Object.values(index)) {
  const text = definition(entry)
  if (text === null) {
    left++
    continue
  }
  const area = box(entry)?.join(' ') ?? ''
  const esri = esriNames.get(entry.code) ?? ''
  const order = northFirst.has(entry.code) ? '1' : ''
  process.stdout.write(`${[entry.code, entry.name, esri, order, area, text].join('\t')}\n`)
}
process.stderr.write(`left out: ${left} of ${Object.keys(index).length}\n`)
