import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

/** The content of a file of demo/data, which are all compressed with Brotli. See its README for their origin. */
export function demoData(file: string): Buffer {
  return brotliDecompressSync(readFileSync(join(import.meta.dirname, '..', 'data', `${file}.br`)))
}
