import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import yauzl from 'yauzl'
import { temporaryFolder } from '../testing/compiled-fixture.ts'
import { type ZipTarget, ZipWriter } from './zip-writer.ts'

/** A file whose first bytes are not stored, as if `start` bytes of other entries preceded. */
class LateFile implements ZipTarget {
  bytes = Buffer.alloc(0)
  readonly start: number

  constructor(start: number) {
    this.start = start
  }

  get length(): number {
    return this.start + this.bytes.length
  }

  write(bytes: Uint8Array): void {
    this.bytes = Buffer.concat([this.bytes, bytes])
  }

  patch(position: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, position - this.start)
  }
}

class LateReader extends yauzl.RandomAccessReader {
  readonly #file: LateFile

  constructor(file: LateFile) {
    super()
    this.#file = file
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const { bytes, start: first } = this.#file
    const before = Buffer.alloc(Math.max(0, first - start))
    return Readable.from([before, bytes.subarray(Math.max(0, start - first), end - first)])
  }
}

for (const start of [0, 5 * 2 ** 30]) {
  test(`entries that begin at byte ${start} are found and read`, async (t) => {
    const folder = await temporaryFolder((remove) => t.after(remove))
    const content = Buffer.from('größe '.repeat(400_000))
    await writeFile(join(folder, 'a'), content)
    await writeFile(join(folder, 'b'), '')
    const file = new LateFile(start)
    const zip = new ZipWriter(file, new Date('2024-05-06T07:08:10Z'))
    await zip.addFile('größe.txt', join(folder, 'a'))
    await zip.addFile('empty', join(folder, 'b'))
    zip.finish()
    const opened = await yauzl.fromRandomAccessReaderPromise(new LateReader(file), file.length)
    const found: [string, Buffer][] = []
    for await (const entry of opened.eachEntry()) {
      found.push([entry.fileName, await buffer(await opened.openReadStreamPromise(entry))])
    }
    assert.deepEqual(found, [
      ['größe.txt', content],
      ['empty', Buffer.alloc(0)],
    ])
  })
}
