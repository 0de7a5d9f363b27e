import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { collection, compileText, feature, query, scratch } from '../compile-fixture.ts'
import { RowNumbersFile } from './row-numbers-file.ts'

test('the database reads every row number in its place, over several row groups', async () => {
  const path = join(scratch, 'row-numbers.parquet')
  // Two whole groups of 122,880 rows and a part of one; numbers beyond 32 bits among them.
  const rows = 2 * 122_880 + 5
  const file = new RowNumbersFile(path, rows)
  for (let i = 0; i < rows; i++) file.add(i % 1000 === 7 ? 2 ** 40 + i : rows - i)
  file.finish()
  file.close()
  const expected = `CASE WHEN file_row_number % 1000 = 7 THEN ${2 ** 40} + file_row_number ELSE ${rows} - file_row_number END`
  const [found] = await query(
    `SELECT typeof(any_value(id)), count(*), count(*) FILTER (id = ${expected}) FROM read_parquet('${path}', file_row_number = true)`,
  )
  assert.deepEqual(found!.map(String), ['BIGINT', String(rows), String(rows)])
})

test('ids that are row numbers are in the order of the features', async () => {
  const places = Array.from({ length: 300 }, (_, i) =>
    feature({ i }, i % 50 === 0 ? null : { type: 'Point', coordinates: [(i * 77) % 180, (i * 31) % 90] }),
  )
  const { folder, features } = await compileText(collection(places))
  const ids = await query(`SELECT id FROM '${folder}/ids.parquet'`)
  assert.deepEqual(
    ids.map(([id]) => Number(id)),
    features.map(({ id }) => id),
  )
})
