import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { collection, feature, type GeojsonFeature, scratch } from '../compile-fixture.ts'
import { compileInChildProcess } from '../compile-in-child-process.ts'
import type { Compiled, CompileOptions } from '../compile-options.ts'
import { compileSource } from '../compile-source.ts'
import type { Revision } from './revision.ts'

needs('time')

let serial = 0

interface Version extends Compiled {
  folder: string
  features: GeojsonFeature[]
}

async function compile(
  name: string,
  text: string,
  options: Partial<CompileOptions> = {},
  compileIt: (options: CompileOptions) => Promise<Compiled> = compileSource,
): Promise<Version> {
  const path = join(scratch, `revise-${++serial}-${name}`)
  await writeFile(path, text)
  const folder = join(scratch, `revise-${serial}`)
  const compiled = await compileIt({ path, folder, threads: 1, ...options })
  const features = JSON.parse(`[${await readFile(join(folder, 'features.pack'), 'utf8')}]`)
  return { ...compiled, folder, features }
}

function revisionOf({ folder, manifest }: Version, revision: Omit<Revision, 'before'>): Revision {
  const ids = join(folder, 'ids.parquet')
  const before = { rows: join(folder, 'rows.parquet'), ids: existsSync(ids) ? ids : null, manifest }
  return { ...revision, before }
}

const byId = (features: GeojsonFeature[]) =>
  [...features]
    .map(({ id, properties, geometry }) => ({ id, properties, geometry }))
    .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))

interface Row {
  name: string | null
  count: number | null
  share: number | null
  day: string | null
  flag: boolean | null
  tags: unknown
  place: [number, number] | null
}

const row: fc.Arbitrary<Row> = fc.record({
  name: fc.option(fc.string({ maxLength: 8, unit: 'grapheme' })),
  count: fc.option(fc.integer({ min: -1_000_000, max: 1_000_000 })),
  share: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })),
  day: fc.option(fc.constantFrom('2020-02-29', '1999-12-31', '0001-01-01')),
  flag: fc.option(fc.boolean()),
  tags: fc.constantFrom(null, ['a'], { b: 1 }),
  place: fc.option(fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }))),
})
/** Has a value of each type, so that the types of the columns are known. */
const FULL: Row = {
  name: 'x',
  count: 1,
  share: 0.5,
  day: '2020-01-01',
  flag: true,
  tags: [1],
  place: [9, 47],
}

const rows = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 30 }), row), {
  selector: ([id]) => id,
  minLength: 1,
  maxLength: 12,
})

type Rows = Map<number, Row>

function textOf(features: Rows, hasIds: boolean): string {
  return collection(
    [...features].map(([id, { place, ...properties }]) =>
      feature(properties, place && { type: 'Point', coordinates: place }, hasIds ? id : undefined),
    ),
  )
}

const TYPES = {
  name: 'text',
  count: 'integer',
  share: 'number',
  day: 'date',
  flag: 'boolean',
  tags: 'json',
} as const

test('updates are what brute force over the whole dataset gives, with and without missing features', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.tuple(rows, fc.boolean()), { maxLength: 2 }), async (first, steps) => {
      const expected: Rows = new Map([[100, FULL], ...first])
      let version = await compile('a.geojson', textOf(expected, true), { types: TYPES })
      for (const [changed, deleteMissing] of steps) {
        // If a file has no geometry at all, features keep theirs: another test.
        const changes: Rows = new Map([[100, FULL], ...changed])
        const before = new Set(expected.keys())
        if (deleteMissing) for (const id of before) if (!changes.has(id)) expected.delete(id)
        for (const [id, value] of changes) expected.set(id, value)
        const revision = revisionOf(version, { mode: 'update', deleteMissing })
        version = await compile('b.geojson', textOf(changes, true), { revision })
        const whole = await compile('c.geojson', textOf(expected, true), { types: TYPES })
        assert.deepEqual(byId(version.features), byId(whole.features))
        assert.deepEqual(version.manifest.columns.map(typeOf), whole.manifest.columns.map(typeOf))
        assert.deepEqual(
          [version.manifest.bbox, version.manifest.id],
          [whole.manifest.bbox, whole.manifest.id],
        )
        const added = [...changes.keys()].filter((id) => !before.has(id)).length
        assert.deepEqual(version.report.changes, {
          added,
          updated: changes.size - added,
          removed: before.size + added - expected.size,
        })
      }
    }),
    { numRuns: 12 },
  )
})

const typeOf = ({ name, type }: { name: string; type: string }) => [name, type]

test('appends keep the numbers of rows, and are what one file with all rows gives', async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, async (first, others) => {
      const base: Rows = new Map([[100, FULL], ...first])
      const version = await compile('a.geojson', textOf(base, false), { types: TYPES })
      const revision = revisionOf(version, { mode: 'append' })
      // A file without any geometry is refused.
      const second = [[100, FULL] as const, ...others]
      const appended = await compile('b.geojson', textOf(new Map(second), false), { revision })
      const all = new Map([...base, ...second.map(([id, value]) => [id + 1000, value] as const)])
      const whole = await compile('c.geojson', textOf(all, false), { types: TYPES })
      assert.deepEqual(byId(appended.features), byId(whole.features))
      assert.deepEqual(appended.manifest.id, whole.manifest.id)
    }),
    { numRuns: 8 },
  )
})

const TABLE = 'code,n,t\na,1,x\nb,2,y\nc,3,z\n'

test('columns that an update lacks keep their values, and those that are new are added', async () => {
  const base = await compile('a.csv', TABLE, { idColumn: 'code' })
  const revision = revisionOf(base, { mode: 'update' })
  const { features, report } = await compile('b.csv', 'code,n,extra\nb,20,1\nd,40,2\n', { revision })
  assert.deepEqual(
    features.map(({ id, properties }) => [id, properties]),
    [
      ['a', { code: 'a', n: 1, t: 'x', extra: null }],
      ['b', { code: 'b', n: 20, t: 'y', extra: 1 }],
      ['c', { code: 'c', n: 3, t: 'z', extra: null }],
      ['d', { code: 'd', n: 40, t: null, extra: 2 }],
    ],
  )
  assert.deepEqual(report.changes, { added: 1, updated: 1, removed: 0 })
})

test('an update without geometries keeps those of the dataset', async () => {
  const base = await compile('a.csv', 'code,longitude,latitude,n\na,9,47,1\nb,10,48,2\n', {
    idColumn: 'code',
  })
  const { features } = await compile('b.csv', 'code,n\nb,20\n', {
    revision: revisionOf(base, { mode: 'update' }),
  })
  const changed = features.find(({ id }) => id === 'b')!
  assert.deepEqual([changed.geometry, changed.properties.n], [{ type: 'Point', coordinates: [10, 48] }, 20])
})

test('a file with another CRS and other notations becomes rows of the dataset', async () => {
  const base = await compile('a.csv', 'id;x;y;h\n1;9;47;1.5\n', {
    idColumn: 'id',
    longitude: 'x',
    latitude: 'y',
  })
  const options = { crs: 'EPSG:3857', longitude: 'x', latitude: 'y' }
  const revision = revisionOf(base, { mode: 'append' })
  const { features } = await compile('b.csv', 'id;x;y;h\n2;1113194.9;0;2,5\n3;0;0;3,25\n', {
    ...options,
    revision,
  })
  const added = features.find(({ id }) => id === 2)!
  assert.ok(Math.abs((added.geometry as { coordinates: number[] }).coordinates[0]! - 10) < 1e-6)
  assert.deepEqual(added.properties.h, 2.5)
})

test('numbers of rows that were left out are not given again', async () => {
  const bad = 'n,wkt\n1,POINT (1 1)\n2,POINT (1 95)\n3,POINT (3 3)\n'
  const base = await compile('a.csv', bad, { skipInvalid: true, geometryColumn: 'wkt' })
  const options = { geometryColumn: 'wkt', revision: revisionOf(base, { mode: 'append' }) }
  const { features } = await compile('b.csv', 'n,wkt\n4,POINT (4 4)\n', options)
  assert.deepEqual(
    byId(features).map(({ id, properties }) => [id, properties.n]),
    [
      [1, 1],
      [3, 3],
      [4, 4],
    ],
  )
})

test('a revision that is not possible is refused with advice', async () => {
  const base = await compile('a.csv', TABLE, { idColumn: 'code' })
  const numbered = await compile('a.csv', TABLE)
  const refusals: [Version, Omit<Revision, 'before'>, string, Partial<CompileOptions>, RegExp][] = [
    [
      base,
      { mode: 'append' },
      'code,n,t\nb,1,x\n',
      {},
      /1 id that the dataset has already: "b"\. Use --update/,
    ],
    [base, { mode: 'update' }, 'code,n\nb,x\n', {}, /Column n cannot be published as integer: row 1 has "x"/],
    [base, { mode: 'update' }, 'n,t\n1,x\n', {}, /no column "code"/],
    [base, { mode: 'update' }, 'code,n\nb,1\nb,2\n', {}, /the id "b" repeats/],
    [base, { mode: 'update' }, 'code,n\nb,1\n', { idColumn: 'n' }, /are in the column code, not in n/],
    [numbered, { mode: 'update' }, 'code,n\nb,1\n', {}, /numbered by their rows.*--id-column/],
    [
      base,
      { mode: 'append' },
      'code,longitude,latitude\nq,1,2\n',
      {},
      /has geometries, and the dataset has none/,
    ],
  ]
  for (const [version, revision, text, options, expected] of refusals) {
    const attempt = compile('b.csv', text, { ...options, revision: revisionOf(version, revision) })
    await assert.rejects(attempt, expected)
  }
  const keyed = { idColumn: 'code', revision: revisionOf(numbered, { mode: 'update' }) }
  const { manifest } = await compile('b.csv', 'code,n\nb,20\n', keyed)
  assert.deepEqual([manifest.rows, manifest.id.column], [3, 'code'])
})

test('a revision is compiled in the sandboxed process, which leaves only the snapshot', async () => {
  const base = await compile('a.csv', TABLE, { idColumn: 'code' })
  const revision = revisionOf(base, { mode: 'update', deleteMissing: true })
  const options = { revision, file: 'changes.csv' }
  const { manifest } = await compile('b.csv', 'code,n\nb,20\nq,1\n', options, compileInChildProcess)
  assert.equal(manifest.rows, 2)
})
