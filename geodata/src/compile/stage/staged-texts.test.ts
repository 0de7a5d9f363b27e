import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { needs } from '../../../../scripts/test-run/needs.ts'
import type { FeatureStream, Value } from '../../feature.ts'
import { openCsv } from '../../formats/csv/csv.ts'
import { openGeojson } from '../../formats/geojson/geojson.ts'
import { inPieces } from '../../formats/reading.test-kit.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import { collection, feature, scratch } from '../compile-fixture.ts'
import { jsonText } from '../values/json-text.ts'
import { expansionBound } from './expansion-limit.ts'
import type { StageSummary } from './stage.ts'
import { stageStream } from './stage-stream.ts'

needs('time')

let serial = 0

/** The two packs of one source: from the texts of its runs, and with properties from the database. */
async function bothPacks(
  stream: FeatureStream,
  idColumn?: string,
): Promise<{ fromRuns: string; fromDatabase: string; summary: StageSummary }> {
  const name = `texts${++serial}`
  const packs: string[] = []
  const staging = join(scratch, name)
  await mkdir(staging)
  const options = { path: name, folder: staging, threads: 1, idColumn, skipInvalid: true }
  const { summary } = await stageStream(stream, expansionBound(name, 0, Infinity), options, staging, () => {})
  for (const isWhole of [true, false]) {
    const folder = join(staging, String(isWhole))
    await mkdir(folder)
    const found = structuredClone(summary)
    found.texts.isWhole &&= isWhole
    await buildSnapshot({
      // The database may only read files in this folder.
      options: { ...options, folder: staging },
      staging: folder,
      summary: found,
      spatial: found.places.hasGeometry,
      source: { file: name, format: 'test', crs: null, bytes: 0 },
      notes: [],
      onPhase: () => {},
      signal: undefined,
    })
    packs.push(await readFile(join(staging, 'features.pack'), 'utf8'))
  }
  return { fromRuns: packs[0]!, fromDatabase: packs[1]!, summary }
}

const time = fc
  .date({ min: new Date('0003-01-01'), max: new Date('9998-01-01'), noInvalidDate: true })
  .chain((date) =>
    fc.constantFrom(
      date.toISOString(),
      date.toISOString().replace('T', ' ').replace('Z', '+05:30'),
      date.toISOString().replace(/\.\d+Z$/, 'Z'),
      date.toISOString().replace(/:\d\d\.\d+Z$/, ''),
      date.toISOString().replace(/Z$/, '450-0130'),
      date
        .toISOString()
        .replace(/\.\d+Z$/, '+00')
        .replace('T', ' ')
        .replaceAll('-', '/'),
      date.toISOString().replaceAll('-', '/'),
    ),
  )
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -1000, max: 1000, noNaN: true }),
  fc.integer(),
)
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.constant('"\\\u0007é'),
)
const orNull = (value: fc.Arbitrary<Value>) => fc.option(value, { freq: 5, nil: null })
const columns: { [name: string]: fc.Arbitrary<Value> } = {
  whole: orNull(fc.integer()),
  large: orNull(fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n })),
  number: orNull(number),
  flag: orNull(fc.boolean()),
  text: orNull(text),
  'day "of"\\': orNull(time.map((each) => each.slice(0, 10))),
  time: orNull(time),
  nested: orNull(fc.array(fc.oneof(text, number, fc.integer()) as fc.Arbitrary<Value>)),
  nothing: fc.constant(null),
}
const rows = fc.array(fc.record(columns) as fc.Arbitrary<{ [name: string]: Value }>, {
  minLength: 1,
  maxLength: 60,
})
const place = fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }))

test('features are the same whether their texts are made at reading or by the database: GeoJSON', async () => {
  let usable = 0
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.array(place, { minLength: 60, maxLength: 60 }),
      fc.boolean(),
      async (all, places, ids) => {
        const features = all.map((_, i) =>
          feature(
            `@${i}@`,
            i % 4 === 3 ? null : { type: 'Point', coordinates: places[i] },
            ids ? `n"${i}` : undefined,
          ),
        )
        const source = collection(features).replace(/"@(\d+)@"/g, (_, i) => jsonText(all[Number(i)]!))
        const { fromRuns, fromDatabase, summary } = await bothPacks(
          await openGeojson(inPieces(source, 'a.geojson')),
        )
        assert.equal(fromRuns, fromDatabase)
        assert.deepEqual(summary.texts.names, Object.keys(columns))
        if (summary.texts.types.every((types) => types !== 0)) usable++
      },
    ),
    { numRuns: 12 },
  )
  assert.ok(usable > 4, `${usable} of 12 packs came from runs`)
})

test('features are the same whether their texts are made at reading or by the database: CSV', async () => {
  const quote = (value: Value) =>
    value === null ? '' : `"${String(value).replaceAll('"', '""').replaceAll('\0', '')}"`
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(undefined, 'n', 'text', 'time', 'number'), async (all, id) => {
      const names = ['whole', 'large', 'number', 'flag', 'text', 'day "of"\\', 'time', 'nothing']
      const lines = all.map((row, i) => [i, ...names.map((name) => quote(row[name]!))].join(','))
      const source = `n,${names.map(quote).join(',')}\n${lines.join('\n')}\n`
      const { fromRuns, fromDatabase, summary } = await bothPacks(
        await openCsv(inPieces(source, 'a.csv')),
        id,
      )
      assert.equal(fromRuns, fromDatabase)
      assert.ok(summary.texts.types.every((types) => types !== 0))
    }),
    { numRuns: 12 },
  )
})

test('rows that an id column leaves out are left out of the pack', async () => {
  const source = 'id,name,lon,lat\n7,a,1,1\n7,b,2,2\n,c,3,3\n8,d,-4,4\n'
  const { fromRuns, fromDatabase } = await bothPacks(await openCsv(inPieces(source, 'a.csv')), 'id')
  assert.equal(fromRuns, fromDatabase)
  const ids = JSON.parse(`[${fromRuns}]`).map(
    ({ id, properties }: { id: number; properties: { name: string } }) => [id, properties.name],
  )
  assert.deepEqual(ids.sort(), [
    [7, 'a'],
    [8, 'd'],
  ])
})
