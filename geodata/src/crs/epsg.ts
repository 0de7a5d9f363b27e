import { readFileSync } from 'node:fs'

/** A coordinate reference system of epsg.tsv, which geodata/scripts/make-epsg-list.ts generates. */
export interface EpsgEntry {
  code: number
  /** `EPSG`, or `ESRI` for the systems that only ESRI defines. */
  authority: string
  name: string
  /** Whether the authority puts northing (or latitude) before easting (or longitude). */
  northingFirst: boolean
  /** Whether it has a vertical part; everything else here is that of its horizontal part. */
  isCompound: boolean
  /** West, south, east, north in degrees; east is greater than 180 if the area crosses the antimeridian. */
  area: Area | null
  /** The geographic CRS whose datum transformations apply to this one; its own code if it is that CRS. */
  base: number
  /** A PROJ string without a datum shift that has x before y, whatever the authority's order. */
  definition: string
}

export type Area = [west: number, south: number, east: number, north: number]

interface Index {
  crsByName: Map<string, number>
  baseByDatum: Map<string, number>
}

let text: string | undefined
let index: Index | undefined
const entries = new Map<number, EpsgEntry>()

/** The list is read lazily when the first code is looked up, because most commands do not need it. */
function list(): string {
  text ??= readFileSync(new URL('./epsg.tsv', import.meta.url), 'utf8')
  return text
}

export function findEpsg(code: number): EpsgEntry | null {
  let entry = entries.get(code) ?? null
  if (!entry) {
    entry = readEntry(code)
    // The cache is bounded by the rows of the list; unknown codes are not cached.
    if (entry) entries.set(code, entry)
  }
  return entry
}

/** Searches the text for a row; an index of all rows would slow down the start of every command. */
function readEntry(code: number): EpsgEntry | null {
  const all = list()
  const start = all.indexOf(`\n${code}\t`)
  if (start < 0) return null
  const columns = all.slice(start + 1, all.indexOf('\n', start + 1)).split('\t')
  const [, authority, name, , northingFirst, area, base, definition] = columns as string[]
  const corners = area!.split(' ').map(Number)
  // A compound CRS refers to its horizontal part.
  const horizontal = definition!.startsWith('=') ? findEpsg(Number(definition!.slice(1))) : null
  return {
    code,
    authority: authority || 'EPSG',
    name: name!,
    northingFirst: horizontal?.northingFirst ?? northingFirst === '1',
    isCompound: horizontal !== null,
    area: corners.length === 4 ? (corners as Area) : null,
    base: horizontal?.base ?? Number(base || code),
    definition: horizontal?.definition ?? definition!,
  }
}

/** The code of a CRS by its name from EPSG ("RGF93 v1 / Lambert-93") or ESRI ("RGF_1993_Lambert_93"). */
export function findEpsgByName(name: string): number | null {
  return indexOf().crsByName.get(comparable(name)) ?? null
}

/** The geographic CRS of a datum, by EPSG's name ("European Datum 1950") or ESRI's ("D_European_1950"). */
export function findBaseByDatum(name: string): number | null {
  return indexOf().baseByDatum.get(comparable(name.replace(/ ensemble$/, ''))) ?? null
}

function indexOf(): Index {
  if (index) return index
  index = { crsByName: new Map(), baseByDatum: new Map([['wgs1984', 4326]]) }
  for (const line of list().split('\n')) {
    if (!/^\d/.test(line)) continue
    const [code, , epsgName, esriName, , , , , datum, esriDatum] = line.split('\t')
    addTo(index.crsByName, [esriName, epsgName], Number(code))
    addTo(index.baseByDatum, [datum, esriDatum, esriDatum?.replace(/^D_/, '')], Number(code))
  }
  return index
}

/** The first CRS with a name wins; deprecated ones and ESRI's own come later in the list. */
function addTo(map: Map<string, number>, names: (string | undefined)[], code: number): void {
  for (const name of names) {
    if (name && !map.has(comparable(name))) map.set(comparable(name), code)
  }
}

/**
 * Normalises a name. The plus sign is kept, because CH1903 and CH1903+ are different datums. PROJ marks
 * deprecated systems in their WKT.
 */
function comparable(name: string): string {
  return name
    .toLowerCase()
    .replace(/ \(deprecated\)$/, '')
    .replace(/[^a-z0-9+]/g, '')
}
