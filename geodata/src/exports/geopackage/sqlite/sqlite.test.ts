import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../testing/compiled-fixture.ts'
import { rootPage } from '../rtree.ts'
import { BtreeWriter } from './btree-writer.ts'
import { PageFile } from './page-file.ts'
import { SqliteRecord } from './record.ts'

const COLUMNS = 'id INTEGER PRIMARY KEY, i INTEGER, r REAL, t TEXT, b BLOB'

interface Row {
  id: number
  integer: number | bigint | null
  real: number | null
  text: string | null
  blob: Buffer | null
}

function createFile(path: string, pageBytes: number): number {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA page_size = ${pageBytes}; CREATE TABLE other (x); CREATE TABLE rows (${COLUMNS})`)
  const root = rootPage(database, 'rows')
  database.close()
  return root
}

function writePages(path: string, root: number, rows: Row[]): void {
  const file = new PageFile(path)
  const table = new BtreeWriter(file, root)
  const record = new SqliteRecord(5)
  for (const { id, integer, real, text, blob } of rows) {
    record.begin()
    record.null()
    if (integer === null) record.null()
    else if (typeof integer === 'bigint') record.bigint(integer)
    else record.integer(integer)
    if (real === null) record.null()
    else record.real(real)
    if (text === null) record.null()
    else record.string(text)
    if (blob === null) record.null()
    else record.blob(blob.length, (view, at) => at + blob.copy(Buffer.from(view.buffer), at))
    record.finish()
    table.add(id, record.buffer, record.start, record.end)
  }
  table.finish()
  file.close()
}

function insert(path: string, rows: Row[]): void {
  const database = new DatabaseSync(path)
  const statement = database.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?)')
  database.exec('BEGIN')
  for (const { id, integer, real, text, blob } of rows)
    statement.run(...([id, integer, real, text, blob] satisfies SQLInputValue[]))
  database.exec('COMMIT')
  database.close()
}

function readRows(path: string): { rows: unknown[]; check: unknown } {
  const database = new DatabaseSync(path, { readOnly: true })
  const values = ['i', 'r', 't', 'b'].map((name) => `typeof(${name}) || quote(${name}) AS ${name}`)
  const rows = database.prepare(`SELECT id, ${values.join()} FROM rows ORDER BY id`).all()
  const check = database.prepare('PRAGMA integrity_check').get()!['integrity_check']
  database.close()
  return { rows, check }
}

const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.integer({ min: 0, max: 9000 }).map((length) => 'ü'.repeat(length)),
)
const rowArbitrary: fc.Arbitrary<Row> = fc.record({
  id: fc.maxSafeInteger(),
  integer: fc.option(
    fc.oneof(
      fc.integer({ min: -300, max: 300 }),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    ),
  ),
  real: fc.option(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger())),
  text: fc.option(texts),
  blob: fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
})

test('pages have the rows that SQLite inserts, and SQLite finds them sound', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  let files = 0
  const compare = (rows: Row[], pageBytes: number) => {
    const ordered = rows.toSorted((a, b) => a.id - b.id)
    const [written, inserted] = [join(root, `${++files}`), join(root, `${++files}`)]
    writePages(written, createFile(written, pageBytes), ordered)
    createFile(inserted, pageBytes)
    insert(inserted, ordered)
    assert.deepEqual(readRows(written), readRows(inserted))
  }
  fc.assert(
    fc.property(
      fc.uniqueArray(rowArbitrary, { selector: ({ id }) => id, maxLength: 60 }),
      fc.constantFrom(512, 4096, 65_536),
      compare,
    ),
    { numRuns: 30 },
  )
  // Four levels of small pages.
  const many = Array.from({ length: 20_000 }, (_, i) => ({ id: (i - 9000) * 3, integer: i, real: i / 8 }))
  compare(
    many.map((row) => ({ ...row, text: null, blob: null })),
    512,
  )
})

test('the page with the bytes that SQLite locks is left out', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const path = join(root, 'large')
  const pageBytes = 65_536
  const tableRoot = createFile(path, pageBytes)
  // A file whose last pages, which are not written, come shortly before that page.
  const pages = 2 ** 30 / pageBytes - 5
  const file = openSync(path, 'r+')
  ftruncateSync(file, pages * pageBytes)
  const count = Buffer.alloc(4)
  count.writeUInt32BE(pages)
  writeSync(file, count, 0, 4, 28)
  closeSync(file)

  const text = 'x'.repeat(400_000)
  const rows = Array.from({ length: 5 }, (_, i) => ({ id: i, integer: i, real: null, text, blob: null }))
  writePages(path, tableRoot, rows)
  const database = new DatabaseSync(path, { readOnly: true })
  const found = database.prepare('SELECT id, t = ? AS same FROM rows').all(text)
  assert.deepEqual(
    found.map((row) => ({ ...row })),
    rows.map(({ id }) => ({ id, same: 1 })),
  )
  const used = database
    .prepare('PRAGMA integrity_check(100000)')
    .all()
    .map((row) => String(row['integrity_check']))
  assert.equal(used.filter((message) => !/never used/.test(message)).join('\n'), '')
  database.close()
})
