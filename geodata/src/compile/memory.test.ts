import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../scripts/test-run/needs.ts'
import { SourceError } from '../source-error.ts'
import { compileSnapshot } from './compile.ts'
import { collection, compileText, feature, scratch } from './compile-fixture.ts'
import {
  databaseThreads,
  defaultMemoryMegabytes,
  divideMemory,
  memoryPerCompilation,
  readingThreads,
} from './memory.ts'

needs('time')

const GIGABYTE = 2 ** 30

test('publishing may use half of the memory of the machine or the container', () => {
  assert.equal(defaultMemoryMegabytes(24 * GIGABYTE, 0), 12_288)
  assert.equal(defaultMemoryMegabytes(24 * GIGABYTE, 4 * GIGABYTE), 2048)
  assert.equal(defaultMemoryMegabytes(24 * GIGABYTE, 2 ** 64), 12_288, 'a container without a limit')
  assert.equal(defaultMemoryMegabytes(GIGABYTE, 0), 800, 'a small machine')
  assert.equal(memoryPerCompilation(2, 2048), 1024)
  assert.equal(memoryPerCompilation(4, 2048), 800)
  assert.equal(divideMemory(2048).database, 1024)
})

test('rows are read by all cores, as far as the memory allows', () => {
  assert.equal(readingThreads({ memoryMegabytes: 12_288 }, 6), 6)
  assert.equal(readingThreads({ memoryMegabytes: 12_288 }, 64), 8)
  assert.equal(readingThreads({ memoryMegabytes: 2048 }, 64), 4)
  assert.equal(readingThreads({ memoryMegabytes: 800 }, 64), 2)
  assert.equal(readingThreads({ memoryMegabytes: 12_288 }, 1), 2, 'one waits for the disk')
  assert.equal(readingThreads({ memoryMegabytes: 800, threads: 5 }, 1), 5)
  assert.equal(databaseThreads({ memoryMegabytes: 12_288 }, 64), 4)
  assert.equal(databaseThreads({ threads: 1 }, 64), 1)
})

/** Few features with many positions: 30 rings of 10,000 positions each. */
function detailed(): string {
  const ring = Array.from({ length: 9999 }, (_, i) => [i / 1000, i % 2])
  const geometry = { type: 'Polygon', coordinates: [[...ring, [0, 0]]] }
  return collection(Array.from({ length: 30 }, (_, n) => feature({ n }, geometry)))
}

test('detailed features need memory that can be set, and the refusal says so', async () => {
  const text = detailed()
  await assert.rejects(
    compileText(text, { file: 'detailed.geojson', memoryMegabytes: 20 }),
    (error) =>
      error instanceof SourceError &&
      error.message ===
        'detailed.geojson needs more memory than the 20 MB that publishing may use. WAYLEAVE_PUBLISH_MEMORY sets how much that is.',
  )
  const { report, folder } = await compileText(text)
  assert.equal(report.rows, 30)
  // A Parquet file is read by a database, which has the same limit.
  const path = join(folder, 'rows.parquet')
  await assert.rejects(
    compileSnapshot({ path, folder: join(scratch, 'refused'), memoryMegabytes: 10 }),
    /rows.parquet needs more memory than the 10 MB/,
  )
  // A feature over the limit is refused like in other formats.
  await assert.rejects(
    compileSnapshot({ path, folder: join(scratch, 'limited'), limits: { rowBytes: 100_000 } }),
    /: a value is larger than 100000 bytes, the limit of WAYLEAVE_MAX_FEATURE_BYTES\.$/,
  )
})
