import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openSource } from '../../formats/index.ts'
import { END, int16, int32, int64, row, START } from '../../formats/pgcopy/pgcopy.test-kit.ts'
import { type PgcopyHeader, pgcopyHeader } from '../../formats/pgcopy/pgcopy-header.ts'
import { scratch } from '../../formats/reading.test-kit.ts'
import { buildSnapshot } from '../build-snapshot.ts'
import { expansionBound } from './expansion-limit.ts'
import { stageStream } from './stage-stream.ts'

needs('time')

const doubles = (...values: number[]) => Buffer.from(new Float64Array(values).buffer)

const KINDS = [
  'boolean',
  'int2',
  'int4',
  'int8',
  'float8',
  'decimal',
  'date',
  'timestamp',
  'json',
  'text',
] as const

/** The binary form of some value of each kind. */
const FIELDS: Record<(typeof KINDS)[number], fc.Arbitrary<Buffer>> = {
  boolean: fc.boolean().map((value) => Buffer.from([value ? 1 : 0])),
  int2: fc.integer({ min: -32_768, max: 32_767 }).map(int16),
  int4: fc.integer().map(int32),
  int8: fc
    .oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.constantFrom(-(2n ** 53n), 2n ** 53n, 2n ** 32n, -1n))
    .map(int64),
  float8: fc
    .oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, 1e-7, 1e16, 2 ** 53))
    .map((value) => {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleBE(value)
      return bytes
    }),
  decimal: fc.oneof(fc.bigInt().map(String), fc.constantFrom('12.50', 'NaN', '-0.001')).map(Buffer.from),
  date: fc.oneof(fc.integer({ min: -10_000, max: 10_000 }), fc.integer()).map(int32),
  timestamp: fc
    .oneof(fc.bigInt(-(10n ** 17n), 10n ** 17n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n))
    .map(int64),
  json: fc.oneof(fc.json(), fc.constantFrom('{"a": 12345678901234567890}', 'x')).map(Buffer.from),
  text: fc.oneof(
    fc.string({ unit: 'binary' }).map(Buffer.from),
    fc.constantFrom('', '"\\\n', 'é', '2020-01-01').map(Buffer.from),
    fc.uint8Array().map(Buffer.from),
  ),
}

test('columns that are staged from their bytes become the features that their values become', async (t) => {
  const folder = scratch(t)
  let serial = 0
  const tables = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 10 }).chain((kinds) =>
    fc.tuple(
      fc.constant(kinds),
      fc.array(fc.tuple(...kinds.map((kind) => fc.option(FIELDS[kind], { freq: 4 }))), {
        minLength: 1,
        maxLength: 40,
      }),
      fc.array(fc.double({ min: -90, max: 90, noNaN: true }), { minLength: 40, maxLength: 40 }),
    ),
  )
  await fc.assert(
    fc.asyncProperty(tables, async ([kinds, rows, places]) => {
      const columns = kinds.map((kind, i) => ({ name: `c${i}`, kind }))
      const header: PgcopyHeader = {
        columns: [...columns, { name: 'g', kind: 'geometry' }],
        crs: 'EPSG:4326',
        srid: 4326,
      }
      const point = (x: number) =>
        Buffer.concat([Buffer.from('0101000020e6100000', 'hex'), doubles(x, x / 2)])
      const path = join(folder, `rows${serial++}.pgcopy`)
      const lines = rows.map((fields, i) => row(...fields, i === 3 ? null : point(places[i]!)))
      writeFileSync(path, Buffer.concat([pgcopyHeader(header), START, ...lines, END]))
      const packs: string[] = []
      for (const hasBlocks of [true, false]) {
        const staging = join(folder, `${serial}-${hasBlocks}`)
        mkdirSync(staging)
        const stream = await openSource(path)
        const { blocks, ...withoutBlocks } = stream as typeof stream & { blocks: unknown }
        assert.ok(blocks)
        const options = { path, folder: staging, threads: 1 }
        const bound = expansionBound('rows', 0, Infinity)
        const staged = await stageStream(
          hasBlocks ? stream : withoutBlocks,
          bound,
          options,
          staging,
          () => {},
        )
        await buildSnapshot({
          ...{ options, staging, summary: staged.summary, spatial: true, notes: [], signal: undefined },
          source: { file: 'rows', format: 'test', crs: null, bytes: 0 },
          onPhase: () => {},
        })
        packs.push(readFileSync(join(staging, 'features.pack'), 'utf8'))
      }
      assert.equal(packs[0], packs[1])
    }),
    { numRuns: 8 },
  )
})
