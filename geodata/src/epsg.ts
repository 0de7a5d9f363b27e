import { readFileSync } from 'node:fs'

/** One coordinate reference system of epsg.tsv, which geodata/scripts/make-epsg-list.ts makes. */
export interface EpsgEntry {
  code: number
  name: string
  /** Whether the authority writes northing (or latitude) before easting (or longitude). */
  northingFirst: boolean
  /** West, south, east, north in degrees; east is above 180 where the area crosses the antimeridian. */
  area: [number, number, number, number] | null
  /** A PROJ string that gives x before y whatever the authority's order. */
  definition: string
}

let text: string | undefined
let codesByName: Map<string, number> | undefined

function list(): string {
  text ??= readFileSync(new URL('./epsg.tsv', import.meta.url), 'utf8')
  return text
}

export function findEpsg(code: number): EpsgEntry | null {
  const all = list()
  const start = all.indexOf(`\n${code}\t`)
  if (start < 0) return null
  const [, name, , northingFirst, area, definition] = all
    .slice(start + 1, all.indexOf('\n', start + 1))
    .split('\t')
  const corners = area!.split(' ').map(Number)
  return {
    code,
    name: name!,
    northingFirst: northingFirst === '1',
    area: corners.length === 4 ? (corners as [number, number, number, number]) : null,
    definition: definition!,
  }
}

/** The code of the CRS that a WKT names, as EPSG ("RGF93 v1 / Lambert-93") or ESRI ("RGF_1993_Lambert_93"). */
export function findEpsgByName(name: string): number | null {
  if (!codesByName) {
    codesByName = new Map()
    for (const line of list().split('\n').slice(1)) {
      const [code, epsgName, esriName] = line.split('\t')
      for (const alias of [esriName, epsgName]) {
        if (alias && !codesByName.has(comparable(alias))) codesByName.set(comparable(alias), Number(code))
      }
    }
  }
  return codesByName.get(comparable(name)) ?? null
}

function comparable(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9+]/g, '')
}
