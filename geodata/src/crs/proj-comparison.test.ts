import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { needs } from '../../../scripts/test-run/needs.ts'
import { axisOrder, transformer, transformerToWgs84 } from '../crs.ts'
import { contains } from './datum-transformations.ts'
import { findEpsg } from './epsg.ts'
import { resolveCrs } from './resolve.ts'
import { type Point, type ProjResults, projResults } from './testing/proj-results.ts'

needs('python')

const python = process.env['WAYLEAVE_TEST_PYTHON']
let results: ProjResults

before(async () => {
  assert.ok(python, 'WAYLEAVE_TEST_PYTHON must name a Python with pyproj; npm test sets it.')
  results = await projResults(python, (line) => console.log(line))
})

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

const toWgs84 = (crs: string) => transformerToWgs84(crs) ?? ((position: number[]) => position)

test('every code of the list puts points where PROJ puts them', () => {
  assert.ok(results.codes.length > 9000)
  const wrong: string[] = []
  let compared = 0
  for (const { name, points, native, places } of results.codes) {
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
  assert.ok(compared > 30_000, `${compared} points`)
  assert.deepEqual(wrong, [])
})

test("every code of the list has PROJ's order of axes", () => {
  const wrong = results.codes
    .filter(({ name, northingFirst }) => (axisOrder(name) === 'northing-first') !== northingFirst)
    .map(({ name }) => name)
  assert.deepEqual(wrong, [])
})

test('a CRS is understood in each of its text forms as PROJ understands it', () => {
  const wrong: string[] = []
  const forms = new Map<string, number>()
  for (const { name, points, native, texts } of results.texts) {
    const { definition } = findEpsg(Number(name.slice(5)))!
    const byCode = toWgs84(name)
    for (const { form, text, native: nativeOfText } of texts ?? []) {
      forms.set(form, (forms.get(form) ?? 0) + 1)
      const { origin, transformations } = resolveCrs(text).datum
      const byText = toWgs84(text)
      const isCovered = ([longitude, latitude]: Point) =>
        origin !== 'published' || transformations.some(({ area }) => contains(area, longitude, latitude))
      // If a PROJ string does not state its datum, PROJ does not know it either.
      // If two systems have the same name, a deprecated one may have no transformation.
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
