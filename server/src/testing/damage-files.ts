import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestServer } from './test-server.ts'

/** The folder of a table's current version. */
export async function snapshotFolder(service: TestServer, table: string): Promise<string> {
  const { catalog, blobs } = service.parts
  return blobs.localFolder((await catalog.find(table)).snapshot)
}

/** Changes one bit in the middle of a file; called twice it repairs the file. */
export function flipBit(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(path, bytes)
}

/** Simulates a power failure: files that were not synced are empty. Returns a function that restores them. */
export function emptyFiles(folder: string): () => void {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
  const contents = names.map((name) => readFileSync(join(folder, name)))
  for (const name of names) writeFileSync(join(folder, name), '')
  return () => {
    for (const [i, name] of names.entries()) writeFileSync(join(folder, name), contents[i]!)
  }
}
