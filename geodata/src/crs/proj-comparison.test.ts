import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { transformer, transformerToWgs84 } from '../crs.ts'
import { contains } from './datum-transformations.ts'
import { findEpsg } from './epsg.ts'
import { resolveCrs } from './resolve.ts'

const python = process.env['WAYLEAVE_TEST_PYTHON']
const script = join(import.meta.dirname, '..', '..', 'scripts', 'proj_reference.py')

type Point = [number, number]

interface Request {
  name: string
  /** Its geographic CRS. PROJ's transformations are looked up once for consecutive equal ones. */
  base: number
  places: boolean
  texts: boolean
}

interface Reference {
  name: string
  /** Longitude and latitude on the datum of the CRS, and the same in the CRS itself. */
  points: Point[]
  native: (Point | null)[]
  /** For each point, the positions in WGS84 that PROJ's transformations return. */
  places?: Point[][]
  /** `native` is null if the text fully describes the CRS. */
  texts?: { form: string; text: string; native: (Point | null)[] | null }[]
}

/** PROJ's results for these CRSs. */
async function* reference(requests: Request[]): AsyncGenerator<Reference> {
  assert.ok(python, 'WAYLEAVE_TEST_PYTHON must name a Python with pyproj; npm test sets it.')
  const child = spawn(python, [script, 'reference'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line)
  assert.equal(await ended, 0)
}

function metres([x, y]: readonly number[], [longitude, latitude]: readonly number[]): number {
  const turns = Math.round((x! - longitude!) / 360)
  const east = (x! - longitude! - turns * 360) * Math.cos((latitude! * Math.PI) / 180)
  const distance = Math.hypot(east, y! - latitude!) * 111_320
  return Number.isFinite(distance) ? distance : Number.POSITIVE_INFINITY
}

/** proj4 truncates the series of Robinson, Cassini and wide transverse Mercator earlier than PROJ. */
function tolerance(definition: string): number {
  if (definition.startsWith('+proj=robin')) return 2
  return /\+proj=(cass|tmerc)\b/.test(definition) ? 0.5 : 0.2
}

/** Every row of the list, sorted by its geographic CRS. */
function listed(): { name: string; base: number; definition: string }[] {
  const lines = readFileSync(new URL('./epsg.tsv', import.meta.url), 'utf8').split('\n')
  return lines
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [code, authority, , , , , base, definition] = line.split('\t')
      const name = `${authority || 'EPSG'}:${code}`
      return { name, base: Number(base || code), definition: definition! }
    })
    .sort((one, other) => one.base - other.base)
}

const toWgs84 = (crs: string) => transformerToWgs84(crs) ?? ((position: number[]) => position)

test('every code of the list puts points where PROJ puts them', async () => {
  const codes = listed()
  assert.ok(codes.length > 9000)
  const requests = codes.map(({ name, base }) => {
    const { origin } = resolveCrs(name).datum
    return { name, base, places: origin === 'published', texts: false }
  })
  // Split by base, so that both processes have about the same number of transformations to look up.
  const halves = [0, 1].map((half) => requests.filter(({ base }) => base % 2 === half))
  const results = await Promise.all(halves.map(compareCodes))
  const compared = results.reduce((sum, result) => sum + result.compared, 0)
  assert.ok(compared > 30_000, `${compared} points`)
  assert.deepEqual(
    results.flatMap(({ wrong }) => wrong),
    [],
  )
})

async function compareCodes(requests: Request[]): Promise<{ compared: number; wrong: string[] }> {
  const wrong: string[] = []
  let compared = 0
  for await (const { name, points, native, places } of reference(requests)) {
    const transform = toWgs84(name)
    const limit = tolerance(findEpsg(Number(name.slice(5)))!.definition)
    const { transformations } = resolveCrs(name).datum
    for (const [i, point] of native.entries()) {
      const [longitude, latitude] = points[i]!
      // Outside the areas of all our transformations, we use the first one and PROJ uses none.
      if (
        point === null ||
        (places && !transformations.some(({ area }) => contains(area, longitude, latitude)))
      )
        continue
      const place = transform(point)
      // Without a published transformation the datum counts as WGS84: only the projection can be wrong.
      const candidates = places?.[i]?.length ? places[i]! : [points[i]!]
      compared++
      const distance = Math.min(...candidates.map((candidate) => metres(place, candidate)))
      if (distance > limit) wrong.push(`${name} is ${distance.toFixed(2)} m off`)
    }
  }
  return { compared, wrong }
}

/** Standard texts that were once misread, by degrees or by tens of metres. */
const ONCE_MISREAD =
  'EPSG:27572 EPSG:27571 EPSG:3413 EPSG:3995 EPSG:3031 EPSG:3388 EPSG:3994 EPSG:3785 EPSG:3857 ESRI:54002 ESRI:54003 ESRI:54004 ESRI:54030 ESRI:102100 EPSG:4283 EPSG:28355 EPSG:3577 EPSG:3111 EPSG:2039 EPSG:6984 EPSG:2169 EPSG:2096 EPSG:5174 EPSG:31287 EPSG:31370 EPSG:5514 EPSG:2056 EPSG:4807 EPSG:2048 EPSG:6201 EPSG:3035 EPSG:32661'.split(
    ' ',
  )

/** Codes that differ in more than numbers: projection, parameters, unit, prime meridian, axes. */
function shapes(): string[] {
  const counts = new Map<string, number>()
  const chosen = listed().filter(({ definition }) => {
    if (definition.startsWith('=')) return false
    const shape = definition.replace(/=-?[\d.]+/g, '=')
    counts.set(shape, (counts.get(shape) ?? 0) + 1)
    return counts.get(shape) === 1
  })
  return [...new Set([...ONCE_MISREAD, ...chosen.map(({ name }) => name)])]
}

test('a CRS is understood in each of its text forms as PROJ understands it', async () => {
  const wrong: string[] = []
  const forms = new Map<string, number>()
  const requests = shapes().map((name) => ({ name, base: 0, places: false, texts: true }))
  for await (const { name, points, native, texts } of reference(requests)) {
    const { definition } = findEpsg(Number(name.slice(5)))!
    const byCode = toWgs84(name)
    for (const { form, text, native: nativeOfText } of texts ?? []) {
      forms.set(form, (forms.get(form) ?? 0) + 1)
      const { origin, transformations } = resolveCrs(text).datum
      const byText = toWgs84(text)
      const isCovered = ([longitude, latitude]: Point) =>
        origin !== 'published' || transformations.some(({ area }) => contains(area, longitude, latitude))
      // If a PROJ string does not state its datum, PROJ does not know it either.
      // Of two systems with the same name, a deprecated one may have no transformation.
      if (resolveCrs(name).datum.origin === 'unknown' && origin === 'published') continue
      const isDatumLost = origin === 'unknown' || origin === 'assumed'
      for (const [i, point] of (nativeOfText ?? native).entries()) {
        // Outside the areas of all transformations, the result depends on which of them the CRS has.
        if (point === null || !native[i] || !isCovered(points[i]!)) continue
        const expected = isDatumLost ? points[i]! : byCode(native[i])
        const distance = metres(byText(point), expected)
        if (distance > tolerance(definition))
          wrong.push(`${name} as ${form} is ${distance.toFixed(2)} m off: ${text.slice(0, 100)}`)
      }
    }
  }
  assert.equal(forms.size, 6)
  for (const [form, count] of forms) assert.ok(count > 100, `${form}: ${count}`)
  assert.deepEqual(wrong, [])
})

test('coordinates go back to a CRS where they came from', () => {
  for (const name of [
    'EPSG:31287',
    'EPSG:27572',
    'EPSG:28355',
    'EPSG:5514',
    'EPSG:2048',
    'EPSG:3413',
    'EPSG:4267',
  ]) {
    const { area } = findEpsg(Number(name.slice(5)))!
    const place = [(area![0] + area![2]) / 2, (area![1] + area![3]) / 2]
    const there = transformer('OGC:CRS84', name)!(place)
    const distance = metres(transformerToWgs84(name)!(there), place)
    assert.ok(distance < 0.01, `${name} comes back ${distance} m off`)
  }
})
