/**
 * Makes src/crs/epsg.tsv, the coordinate reference systems that crs.ts knows, and
 * src/crs/datum-transformations.tsv, the published ways from their datums to WGS84, from the database of PROJ
 * as pyproj brings it (see proj_reference.py, which writes it as JSON lines):
 *
 *   python geodata/scripts/proj_reference.py list > list.jsonl
 *   node geodata/scripts/make-epsg-list.ts list.jsonl
 *
 * Every row is checked against PROJ at points inside its area: a CRS that proj4 computes otherwise, or does not
 * have, is left out, for a CRS that is refused is better than one that is wrong.
 */
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import proj4 from 'proj4'
import { projString } from '../src/crs/methods.ts'
import { PROJ_DEFAULTS } from '../src/crs/proj-text.ts'
import { readProjJson } from '../src/crs/read-projjson.ts'

type Point = [number, number]

interface SourceRecord {
  kind: 'source'
  proj: string
  epsg: string
  epsgDate: string
  esri: string
}

interface BaseRecord {
  kind: 'base'
  base: string
  name: string
  transformations: {
    name: string
    accuracy: number
    offshore: boolean
    area: number[]
    parameters: number[]
    points: Point[]
    wgs84: (Point | null)[]
  }[]
}

interface CrsRecord {
  kind: 'geographic' | 'projected'
  authority: string
  code: string
  name: string
  esriName: string
  deprecated: number
  base: string
  datum?: string
  esriDatum?: string
  area: number[] | null
  northingFirst: boolean
  axes: number
  projjson: unknown
  points: Point[]
  native: (Point | null)[] | null
}

interface CompoundRecord {
  kind: 'compound'
  code: string
  name: string
  esriName: string
  horizontal: string
  area: number[] | null
}

/** Metres that proj4 may lie from PROJ; Robinson's and Cassini's series end earlier in proj4. */
const TOLERANCE = 0.05
const WIDE_TOLERANCE = 0.5

/**
 * Frames that follow the Earth's centre as WGS84 does, but for which no transformation by parameters is
 * published: their coordinates are WGS84's within plate motion and the frames' differences.
 */
const LIKE_WGS84 =
  /^(ITRF|IGS|IGb|SIRGAS|POSGAR|ETRS89|NAD83|China Geodetic Coordinate System 2000|LKS-2020|RGNC|REDGEOMIN|PZ-90|IGD05|IG05|Mauritania 1999|GCS_NAD_1983|GCS_ITRF|GCS_IGS|GCS_China_Geodetic_Coordinate_System_2000|NAD_1983|GCS_CGRS_1993|Popular Visualisation CRS)/
const LIKE_WGS84_ACCURACY = 3

const sources: SourceRecord[] = []
const bases: BaseRecord[] = []
const systems: CrsRecord[] = []
const compounds: CompoundRecord[] = []
const [, , input] = process.argv
if (!input) throw new Error('usage: node make-epsg-list.ts <the output of proj_reference.py list>')
for await (const line of createInterface({ input: createReadStream(input) })) {
  const record = JSON.parse(line) as SourceRecord | BaseRecord | CrsRecord | CompoundRecord
  if (record.kind === 'source') sources.push(record)
  else if (record.kind === 'base') bases.push(record)
  else if (record.kind === 'compound') compounds.push(record)
  else systems.push(record)
}

const left = new Map<string, string[]>()
function leaveOut(reason: string, code: string): null {
  left.set(reason, [...(left.get(reason) ?? []), code])
  return null
}

function distance([x, y]: Point, [longitude, latitude]: Point): number {
  const turns = Math.round((x - longitude) / 360)
  const east = (x - longitude - turns * 360) * Math.cos((latitude * Math.PI) / 180)
  const metres = Math.hypot(east, y - latitude) * 111_320
  return Number.isFinite(metres) ? metres : Number.POSITIVE_INFINITY
}

/** The PROJ string if proj4 puts the points of its area where PROJ puts them, both ways. */
function checkedDefinition(record: CrsRecord): string | null {
  const name = `${record.authority}:${record.code}`
  const crs = readProjJson(record.projjson)
  const definition = crs && projString(crs)
  if (!crs || !definition) {
    const { conversion } = record.projjson as { conversion?: { method: { name: string } } }
    return leaveOut(`no ${conversion?.method.name ?? 'description'}`, name)
  }
  if (!crs.projected) return definition
  if (!record.native?.some((point) => point !== null)) return leaveOut('PROJ itself has no result', name)
  const { semiMajorAxis, inverseFlattening } = crs.geographic
  const ellipsoid =
    inverseFlattening === 0 ? `+R=${semiMajorAxis}` : `+a=${semiMajorAxis} +rf=${inverseFlattening}`
  const converter = proj4(PROJ_DEFAULTS + definition, `+proj=longlat ${ellipsoid}`)
  let worst = 0
  for (const [i, native] of record.native.entries()) {
    if (native === null) continue
    const point = record.points[i]!
    try {
      worst = Math.max(worst, distance(converter.forward([...native], true) as Point, point))
      const there = converter.inverse([...point], true)
      const metres = Math.hypot(there[0]! - native[0], there[1]! - native[1]) * crs.projected.unit
      worst = Math.max(worst, Number.isFinite(metres) ? metres : Number.POSITIVE_INFINITY)
    } catch {
      worst = Number.POSITIVE_INFINITY
    }
  }
  const tolerance = /\+proj=(cass|robin|tmerc)\b/.test(definition) ? WIDE_TOLERANCE : TOLERANCE
  return worst <= tolerance
    ? definition
    : leaveOut(`proj4 is wrong: ${definition.split(' ')[0]!}`, `${name} (${worst.toPrecision(3)} m)`)
}

/** The 2D one of a datum before its 3D one. */
function axisCount({ axes }: CrsRecord): number {
  return axes
}

const areaText = (area: number[] | null) => area?.map((value) => Number(value.toFixed(2))).join(' ') ?? ''
const clean = (text: string) => text.replace(/[\t\n]/g, ' ').trim()
const numberOf = (name: string) => name.slice(name.indexOf(':') + 1)

// EPSG's own before ESRI's, current ones before deprecated ones: the first of a name is found by it.
systems.sort(
  (one, other) =>
    Number(one.kind === 'projected') - Number(other.kind === 'projected') ||
    Number(one.authority === 'ESRI') - Number(other.authority === 'ESRI') ||
    one.deprecated - other.deprecated ||
    axisCount(one) - axisCount(other) ||
    Number(one.code) - Number(other.code),
)
const lines: string[] = []
const written = new Set<string>()
const definitionsOfBases = new Map<string, string>()
/** A 3D geographic CRS, or one that is deprecated, has the transformations of the first of its datum. */
const twins = new Map<string, string>()
const codesByDatum = new Map<string, string>()
for (const record of systems) {
  if (written.has(record.code)) {
    leaveOut('the number is taken', `${record.authority}:${record.code}`)
    continue
  }
  const definition = checkedDefinition(record)
  if (definition === null) continue
  written.add(record.code)
  const isGeographic = record.kind === 'geographic'
  if (isGeographic) {
    const datum = `${record.datum} ${definition}`
    const twin = codesByDatum.get(datum)
    if (twin !== undefined) twins.set(record.code, twin)
    else codesByDatum.set(datum, record.code)
    if (twin === undefined) definitionsOfBases.set(record.code, definition)
  }
  const columns = [
    record.code,
    record.authority === 'EPSG' ? '' : record.authority,
    clean(record.name),
    clean(record.authority === 'ESRI' ? '' : record.esriName),
    record.northingFirst ? '1' : '',
    areaText(record.area),
    baseOf(record),
    definition,
    ...(isGeographic ? [clean(record.datum ?? ''), clean(record.esriDatum ?? '')] : []),
  ]
  lines.push(columns.join('\t').replace(/\t+$/, ''))
}
for (const { code, name, esriName, horizontal, area } of compounds) {
  if (!written.has(numberOf(horizontal))) leaveOut('its horizontal part is left out', code)
  else
    lines.push(
      [code, '', clean(name), clean(esriName), '', areaText(area), '', `=${numberOf(horizontal)}`].join('\t'),
    )
}

const shiftLines: string[] = []
for (const { base, name, transformations } of bases) {
  const definition = definitionsOfBases.get(numberOf(base))
  if (definition === undefined || !written.has(numberOf(base))) continue
  if (base === 'EPSG:4326') continue
  const usable = transformations.filter((each) => {
    const parameters = parametersText(each.parameters)
    const ellipsoid = definition.replace(/ ?\+(pm|to_degree|proj)=\S+/g, '').trim()
    const shift = parameters === '' ? '' : ` +towgs84=${parameters}`
    const converter = proj4(`+proj=longlat ${ellipsoid}${shift}`, 'WGS84')
    const isRight = each.points.every((point, i) => {
      const expected = each.wgs84[i]
      if (!expected || Math.abs(point[1]) > 89) return true
      return distance(converter.forward([...point]) as Point, expected) < 0.02
    })
    if (!isRight) leaveOut('proj4 computes the transformation otherwise', `${base} ${each.name}`)
    return isRight
  })
  const stated = usable.map((each) => ({
    ...each,
    accuracy: each.accuracy < 0 || each.accuracy >= 998 ? null : each.accuracy,
  }))
  const isCovered = (i: number) =>
    stated.some((other, j) => j !== i && isAlwaysPreferred(other, stated[i]!, j < i))
  for (const each of stated.filter((_, i) => !isCovered(i))) {
    const accuracy = each.accuracy === null ? '' : String(Number(each.accuracy.toPrecision(3)))
    shiftLines.push(
      [
        numberOf(base),
        clean(each.name),
        accuracy,
        areaText(each.area),
        parametersText(each.parameters),
        each.offshore ? '1' : '',
      ]
        .join('\t')
        .replace(/\t$/, ''),
    )
  }
  if (stated.length === 0 && LIKE_WGS84.test(name))
    shiftLines.push(
      [numberOf(base), `${clean(name)} taken as WGS 84`, LIKE_WGS84_ACCURACY, '-180 -90 180 90', ''].join(
        '\t',
      ),
    )
}

function baseOf(record: CrsRecord): string {
  if (record.kind === 'geographic') return twins.get(record.code) ?? ''
  return twins.get(numberOf(record.base)) ?? numberOf(record.base)
}

interface Stated {
  accuracy: number | null
  area: number[]
  offshore: boolean
}

/** Whether `other` is chosen at every place of `row`'s area, so that `row` never is. */
function isAlwaysPreferred(other: Stated, row: Stated, isBefore: boolean): boolean {
  const contains =
    other.area[0]! <= row.area[0]! &&
    other.area[1]! <= row.area[1]! &&
    other.area[2]! >= row.area[2]! &&
    other.area[3]! >= row.area[3]!
  if (!contains || other.offshore || row.offshore) return false
  const one = other.accuracy ?? 1e6
  const two = row.accuracy ?? 1e6
  const isSame = areaText(other.area) === areaText(row.area)
  return one < two || (one === two && isSame && isBefore)
}

function parametersText(parameters: number[]): string {
  const rounded = parameters.map((value, i) => {
    const number = Number(value.toFixed(i < 3 ? 5 : 9))
    return Object.is(number, -0) ? 0 : number
  })
  if (rounded.every((value) => value === 0)) return ''
  return (rounded.slice(3).every((value) => value === 0) ? rounded.slice(0, 3) : rounded).join(',')
}

const { proj, epsg, epsgDate, esri } = sources[0]!
const origin = `# EPSG Geodetic Parameter Dataset ${epsg} (${epsgDate}) and ESRI ${esri}, by the database of PROJ ${proj}.`
const folder = join(import.meta.dirname, '..', 'src', 'crs')
writeFileSync(
  join(folder, 'epsg.tsv'),
  `${origin}\n# code\tauthority, if not EPSG\tname\tESRI name\tnorthing first\tarea\tbase\tdefinition\tdatum\tESRI datum\n${lines.join('\n')}\n`,
)
writeFileSync(
  join(folder, 'datum-transformations.tsv'),
  `${origin}\n# base\tname\taccuracy\tarea\tparameters\toffshore\n${shiftLines.join('\n')}\n`,
)
for (const [reason, codes] of left)
  process.stderr.write(`left out, ${reason}: ${codes.length}: ${codes.slice(0, 12).join(', ')}\n`)
process.stderr.write(`${lines.length} systems, ${shiftLines.length} transformations\n`)
