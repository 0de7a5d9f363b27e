import { readFileSync } from 'node:fs'
import { resolveCrs } from '../resolve.ts'

/** What to ask PROJ about one CRS. */
export interface ProjRequest {
  name: string
  /** Its geographic CRS. PROJ's transformations are looked up once for consecutive equal ones. */
  base: number
  places: boolean
  texts: boolean
}

/** Standard texts that were once misread, by degrees or by tens of metres. */
const ONCE_MISREAD =
  'EPSG:27572 EPSG:27571 EPSG:3413 EPSG:3995 EPSG:3031 EPSG:3388 EPSG:3994 EPSG:3785 EPSG:3857 ESRI:54002 ESRI:54003 ESRI:54004 ESRI:54030 ESRI:102100 EPSG:4283 EPSG:28355 EPSG:3577 EPSG:3111 EPSG:2039 EPSG:6984 EPSG:2169 EPSG:2096 EPSG:5174 EPSG:31287 EPSG:31370 EPSG:5514 EPSG:2056 EPSG:4807 EPSG:2048 EPSG:6201 EPSG:3035 EPSG:32661'.split(
    ' ',
  )

/** Every code of the list, to compare its coordinates. */
export function codeRequests(): ProjRequest[] {
  return listedCodes().map(({ name, base }) => {
    const { origin } = resolveCrs(name).datum
    return { name, base, places: origin === 'published', texts: false }
  })
}

/** One code of each kind that differs in more than numbers, to compare all of its text forms. */
export function textRequests(): ProjRequest[] {
  return distinctCodes().map((name) => ({ name, base: 0, places: false, texts: true }))
}

/** Every row of the list, sorted by its geographic CRS. */
function listedCodes(): { name: string; base: number; definition: string }[] {
  const lines = readFileSync(new URL('../epsg.tsv', import.meta.url), 'utf8').split('\n')
  return lines
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [code, authority, , , , , base, definition] = line.split('\t')
      const name = `${authority || 'EPSG'}:${code}`
      return { name, base: Number(base || code), definition: definition! }
    })
    .sort((one, other) => one.base - other.base)
}

/** Codes that differ in more than numbers: projection, parameters, unit, prime meridian, axes. */
function distinctCodes(): string[] {
  const counts = new Map<string, number>()
  const chosen = listedCodes().filter(({ definition }) => {
    if (definition.startsWith('=')) return false
    const shape = definition.replace(/=-?[\d.]+/g, '=')
    counts.set(shape, (counts.get(shape) ?? 0) + 1)
    return counts.get(shape) === 1
  })
  return [...new Set([...ONCE_MISREAD, ...chosen.map(({ name }) => name)])]
}
