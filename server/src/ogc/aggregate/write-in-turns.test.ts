import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { TimedWork } from '@wayleave/query'
import { tableFromIPC } from 'apache-arrow'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { arrowBody } from './aggregate-arrow.ts'
import { csvBody, geojsonBody, jsonBody, type ShownResult } from './aggregate-body.ts'
import { parquetBody } from './aggregate-parquet.ts'
import { BodyWriter } from './body-writer.ts'

/** Counts the looks at the clock, where others can be served. */
class CountedWork extends TimedWork {
  looks = 0

  constructor() {
    super({ owner: 'test', maxMs: 600_000 })
  }

  override async next(): Promise<void> {
    this.looks++
  }

  override async each(count: number, step: (i: number) => void): Promise<number> {
    for (let i = 0; i < count; i++) step(i)
    this.looks += count
    return count
  }
}

const ROWS = 10_000
/** A point in well-known binary. */
const POINT = Uint8Array.of(1, 1, 0, 0, 0, ...new Uint8Array(16))

function shown(geometry: Uint8Array | null): ShownResult {
  const types = ['text', 'integer', 'number', 'date', 'timestamp', 'boolean'] as const
  const row = (i: number) => [`text ${i}`, i, i / 2, '2020-02-01', '2020-02-01T10:00:00Z', i % 3 === 0]
  return {
    columns: types.map((type) => ({ name: type, type })),
    rows: Array.from({ length: ROWS }, (_, i) => (i === 5 ? types.map(() => null) : row(i))),
    geometries: geometry && Array.from({ length: ROWS }, () => geometry),
    numberGroups: ROWS,
    others: null,
    hasOthers: false,
    links: [],
  }
}

test('a page of groups is written as Arrow in turns', async () => {
  const work = new CountedWork()
  const table = tableFromIPC(new Uint8Array(await arrowBody(shown(POINT), work)))
  assert.equal(table.numRows, ROWS)
  assert.deepEqual(table.get(7)!.toArray().slice(0, 3), ['text 7', 7n, 3.5])
  const flags = table.getChild('boolean')!
  assert.deepEqual([flags.get(3), flags.get(4), flags.get(5)], [true, false, null])
  assert.deepEqual(table.getChild('geometry')!.get(9), POINT)
  assert.ok(work.looks >= (7 * ROWS) / 1024, String(work.looks))
})

test('a page of groups is written as Parquet in turns, with a row group in each', async () => {
  const read = async (result: ShownResult) => {
    const work = new CountedWork()
    const file = new Uint8Array(await parquetBody(result, work)).buffer
    const { row_groups: groups } = parquetMetadata(file)
    const rows = await parquetReadObjects({ file })
    assert.equal(rows.length, result.rows.length)
    assert.ok(work.looks >= groups.length)
    return { rows, groups: groups.map(({ num_rows }) => Number(num_rows)) }
  }
  const plain = await read(shown(null))
  assert.ok(Math.max(...plain.groups) * 6 <= 4096 + 6, String(plain.groups))
  assert.equal(plain.rows[5]!['text'], null)
  assert.deepEqual([plain.rows[9_999]!['text'], plain.rows[9_999]!['number']], ['text 9999', 4999.5])
  // Large areas count by their bytes.
  const area = new Uint8Array(300_000)
  area.set(POINT)
  const large = { ...shown(area), rows: shown(area).rows.slice(0, 20) }
  const { groups } = await read({ ...large, geometries: large.geometries!.slice(0, 20) })
  assert.ok(Math.max(...groups) <= 4, String(groups))
  assert.deepEqual((await read({ ...shown(null), rows: [] })).rows, [])
})

test('a page of groups is written as text in turns, and its tag is that of its bytes', async () => {
  const text = Buffer.from(JSON.stringify({ type: 'Point', coordinates: [1, 2] }))
  const bodies = [
    (work: TimedWork) => jsonBody(shown(null), work),
    (work: TimedWork) => geojsonBody(shown(text), work),
    (work: TimedWork) => csvBody(shown(null), false, work),
  ]
  const names = ['json', 'geojson', 'csv']
  for (const [i, write] of bodies.entries()) {
    const work = new CountedWork()
    const { body, tag } = await write(work)
    assert.ok(work.looks >= ROWS)
    const hash = createHash('sha1').update(names[i]!).update(body).digest('base64url')
    assert.equal(tag, `W/"${hash}"`)
    if (i < 2) JSON.parse(body.toString())
  }
  const { features } = JSON.parse((await geojsonBody(shown(text), new CountedWork())).body.toString())
  assert.deepEqual(features[7], {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [1, 2] },
    properties: {
      text: 'text 7',
      integer: 7,
      number: 3.5,
      date: '2020-02-01',
      timestamp: '2020-02-01T10:00:00Z',
      boolean: false,
    },
  })
})

test('a large area is hashed in turns', async () => {
  const work = new CountedWork()
  const writer = new BodyWriter('a')
  writer.write('é')
  const area = Buffer.alloc(5_000_000, 'b')
  await writer.writeBytes(area, work)
  writer.write('c')
  assert.ok(writer.end().body.equals(Buffer.concat([Buffer.from('é'), area, Buffer.from('c')])))
  assert.ok(work.looks >= area.length / 65_536)
})
