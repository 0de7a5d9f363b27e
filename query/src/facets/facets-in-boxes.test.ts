import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSnapshot, PackCache, type Snapshot } from '@wayleave/geodata/features'
import {
  collection,
  compileText,
  feature,
  type GeojsonFeature,
  scratch,
  withStoredLists,
} from '@wayleave/geodata/testing'
import { type FacetResult, finish, planConditions, QueryEngine, TimedWork } from '../engine.ts'
import { conditionsOf } from '../testing/conditions.ts'

/** Three segments of the file, which are three blocks here, and one more feature. */
const ROWS = 3 * 4096 + 1
/** The last features have no place. */
const PLACED = ROWS - 5
const COLUMNS = ['kind', 'year', 'value', 'name', 'same']
const LIMIT = 10
const BINS = 7
const work = new TimedWork({ owner: 'test', maxMs: 600_000 })
let features: GeojsonFeature[]
let folder: string
/** Columns as those of few rows are stored, and in segments with posting lists. */
let snapshots: Snapshot[]

before(async () => {
  let state = 11
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const made = Array.from({ length: ROWS }, (_, i) => {
    const [longitude, latitude] = [
      Math.round(random() * 3400 - 1700) / 10,
      Math.round(random() * 1600 - 800) / 10,
    ]
    const properties = {
      kind: random() < 0.1 ? null : `k${Math.floor(random() * 5)}`,
      // Few values, and more than the limit: a histogram of counted codes.
      year: 1900 + Math.floor(random() * 120),
      // More than 256: a histogram of intervals.
      value: random() < 0.05 ? null : Math.round(random() * 1000) / 4,
      // More than 256 texts.
      name: `n${Math.floor(random() * 400)}`,
      // The same value in large areas.
      same: longitude < 100 ? 1 : 2,
    }
    return feature(properties, i < PLACED ? { type: 'Point', coordinates: [longitude, latitude] } : null)
  })
  const compiled = await compileText(collection(made))
  features = compiled.features
  folder = await withStoredLists(compiled.folder, compiled.manifest)
  snapshots = [await openSnapshot(compiled.folder), await openSnapshot(folder, new PackCache(1 << 24))]
})
after(() => Promise.all(snapshots.map((snapshot) => snapshot.close())))

type Box = [number, number, number, number]

function isInBox({ geometry }: GeojsonFeature, [west, south, east, north]: Box): boolean {
  if (geometry === null) return true
  const [x, y] = (geometry as unknown as { coordinates: [number, number] }).coordinates
  return y >= south && y <= north && (west <= east ? x >= west && x <= east : x >= west || x <= east)
}

/** The facets by the features' values alone. Histograms have intervals of one width from the least to the largest. */
function facetsOf(matching: GeojsonFeature[]): FacetResult['facets'] {
  return COLUMNS.map((name) => {
    const all = features.map(({ properties }) => properties[name]).filter((value) => value !== null)
    const values = matching.map(({ properties }) => properties[name])
    const present = values.filter((value) => value !== null) as (string | number)[]
    const nulls = values.length - present.length
    const isHistogram = typeof all[0] === 'number' && new Set(all).size > LIMIT
    if (isHistogram) {
      const [first, last] = [Math.min(...(all as number[])), Math.max(...(all as number[]))]
      const edges = Array.from({ length: BINS }, (_, i) => {
        const edge = first + (last - first) * (i / BINS)
        return name === 'value' ? edge : Math.floor(edge)
      })
      const histogram = edges.map((from, i) => {
        const to = edges[i + 1] ?? last
        const isInside = (value: number) => value >= from && (i === BINS - 1 ? value <= to : value < to)
        return { from, to, count: (present as number[]).filter(isInside).length }
      })
      return [name, { type: name === 'value' ? 'number' : 'integer', nulls, histogram }]
    }
    const counts = new Map<string | number, number>()
    for (const value of present) counts.set(value, (counts.get(value) ?? 0) + 1)
    const ranked = [...counts]
      .map(([value, count]) => ({ value, count }))
      .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, LIMIT)
    const others = ranked.reduce((rest, { count }) => rest - count, present.length)
    const type = typeof all[0] === 'number' ? 'integer' : 'text'
    return [name, { type, nulls, values: ranked, others }]
  })
}

const BOXES: (Box | null)[] = [
  null,
  [-180, -90, 180, 90],
  [-60, -40, 60, 40],
  [-170, -80, 20.5, 79.9],
  [100, -90, -100, 90],
  [10, 10, 12, 12],
  [0.05, 0.05, 0.06, 0.06],
]
const FILTERS: { text: string; test: (properties: GeojsonFeature['properties']) => boolean }[] = [
  { text: "kind = 'k1'", test: ({ kind }) => kind === 'k1' },
  {
    text: "kind <> 'k1' AND value < 100",
    test: ({ kind, value }) => kind !== null && kind !== 'k1' && value !== null && (value as number) < 100,
  },
  {
    text: "year IN (1901, 1903, 1905, 1907, 1909, 1911, 1950) OR kind = 'k2'",
    test: ({ year, kind }) =>
      [1901, 1903, 1905, 1907, 1909, 1911, 1950].includes(year as number) || kind === 'k2',
  },
  { text: 'same = 1', test: ({ same }) => same === 1 },
]

test('counts and facets over boxes and filters are those of the features, also of columns in segments', async (t) => {
  for (const maxListedRows of [undefined, 10]) {
    const engine = new QueryEngine(scratch, {
      geometryBytes: 1 << 24,
      columnBytes: 1 << 26,
      ...(maxListedRows && { maxListedRows }),
    })
    t.after(() => engine.close())
    for (const snapshot of snapshots) {
      const columns = COLUMNS.map((name) =>
        snapshot.manifest.columns.findIndex((column) => column.name === name),
      )
      for (const corners of BOXES) {
        for (const filter of [null, ...FILTERS]) {
          const name = `${corners} ${filter?.text}`
          const box = corners && { box: corners, heights: null, projected: null }
          const plan = filter && planConditions(conditionsOf(filter.text), snapshot)
          const matching = features.filter(
            (one) => (!corners || isInBox(one, corners)) && (!filter || filter.test(one.properties)),
          )
          const query = { columns, limit: LIMIT, bins: BINS, extent: false, box, selection: name }
          const { matched, facets } = await engine.facets(snapshot, query, plan, work)
          assert.equal(matched, matching.length, name)
          assert.deepEqual(facets, facetsOf(matching), name)
          const asked = { ...query, ids: null, sort: [], offset: 0 }
          assert.equal(await finish(engine.count(snapshot, asked, plan, null), work), matching.length, name)
          const positions = await engine.positions(snapshot, asked, plan, work)
          const wanted = new Set(matching)
          const expected = features.flatMap((one, position) => (wanted.has(one) ? [position] : []))
          assert.deepEqual([...positions.listBelow(ROWS)], expected, name)
        }
      }
    }
  }
})
