import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { publishText } from '../../testing/publish.ts'
import { type OgcService, openOgc } from '../testing/open-ogc.ts'

needs('time')

/** Publishes a table as CSV with these columns, a line for each row. */
async function openTable(t: TestContext, rows: Record<string, unknown>[]): Promise<OgcService> {
  const service = await openOgc(t)
  const lines = rows.map((row) => Object.values(row).join(','))
  await publishText(service, 'table', 'table.csv', [Object.keys(rows[0]!).join(','), ...lines].join('\n'))
  return service
}

/** The column `i` of all features that a query selects, page by page. */
async function selected(service: OgcService, query: string): Promise<number[]> {
  const features = await service.readAll(`/collections/table/items?${query}`)
  return features.map(({ properties }) => properties.i)
}

/** A comparison of two columns leaves a filter to the database. */
const inDatabase = (filter: string) => `filter=${encodeURIComponent(`i >= less AND (${filter})`)}`

test('columns named like those of the compiler stay with their features', async (t) => {
  const names = ['key', 'Row', 'staged', 's', 'longitude', 'latitude', 'wkb', 'west']
  const rows = Array.from({ length: 300 }, (_, i) => ({
    i,
    less: -1,
    ...Object.fromEntries(names.map((name, n) => [name, `v${(i * 7919 + n * 31) % 300}`])),
  }))
  const service = await openTable(t, rows)
  for (const [n, name] of names.entries()) {
    const of = (i: number) => `v${(i * 7919 + n * 31) % 300}`
    for (const i of [0, 17, 299]) {
      assert.deepEqual(await selected(service, `${name}=${of(i)}`), [i], name)
      assert.deepEqual(await selected(service, inDatabase(`${name} = '${of(i)}'`)), [i], name)
    }
    const sorted = rows.toSorted((a, b) => (of(a.i) < of(b.i) ? -1 : 1)).map(({ i }) => i)
    assert.deepEqual(await selected(service, `sortby=${name}&limit=100`), sorted, name)
  }
})

test('pages of a filter with a list, in the database, have every feature once and in order', async (t) => {
  const rows = Array.from({ length: 6000 }, (_, i) => ({ i, less: i % 7, kind: 'abcdef'[i % 6] }))
  const service = await openTable(t, rows)
  for (const kinds of ['abcd', 'abcde']) {
    const list = [...kinds].map((kind) => `'${kind}'`).join(', ')
    const expected = rows.filter(({ i, less, kind }) => i >= less && kinds.includes(kind!)).map(({ i }) => i)
    assert.deepEqual(await selected(service, `${inDatabase(`kind IN (${list})`)}&limit=100`), expected)
  }
})

test('zero finds negative zero, whichever way decides', async (t) => {
  const rows = Array.from({ length: 400 }, (_, i) => ({
    i,
    less: -1,
    v: ['-0.0', '0.5', '1.5', '0.0'][i % 4],
  }))
  const service = await openTable(t, rows)
  const expected = rows.filter(({ v }) => Number(v) === 0).map(({ i }) => i)
  for (const zero of ['0', '-0.0', '0.0']) {
    assert.deepEqual(await selected(service, `v=${zero}&limit=100`), expected, zero)
    assert.deepEqual(await selected(service, `${inDatabase(`v = ${zero}`)}&limit=100`), expected, zero)
    assert.deepEqual(await selected(service, `${inDatabase(`v IN (${zero}, 7)`)}&limit=100`), expected, zero)
  }
})

test('pages that the database sorts by numbers beyond 64 bits have every feature', async (t) => {
  const rows = Array.from({ length: 40 }, (_, i) => ({
    i,
    less: i % 7,
    v: [0.5, 1e20, -2.5, 3e300, -4e200][i % 5],
  }))
  const service = await openTable(t, rows)
  const kept = rows.filter(({ i, less }) => i >= less)
  const ascending = kept.toSorted((a, b) => a.v! - b.v! || a.i - b.i).map(({ i }) => i)
  const descending = kept.toSorted((a, b) => b.v! - a.v! || a.i - b.i).map(({ i }) => i)
  assert.deepEqual(await selected(service, `${inDatabase('i >= 0')}&sortby=v&limit=3`), ascending)
  assert.deepEqual(await selected(service, `${inDatabase('i >= 0')}&sortby=-v&limit=3`), descending)
})
