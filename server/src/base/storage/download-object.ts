import { open, rename, rm } from 'node:fs/promises'
import { randomBase62 } from '../id.ts'
import type { ObjectInfo, ObjectStore } from './object-store.ts'

const PART_BYTES = 8 << 20
/** For work in the background, which waits until the store is back, in ms. */
export const BACKGROUND_PATIENCE = 120_000

/** Copies a whole object to a local file, which appears under its name once it is complete. */
export async function downloadObject(
  store: ObjectStore,
  { key, bytes }: Pick<ObjectInfo, 'key' | 'bytes'>,
  path: string,
  onPart: (part: Buffer) => void = () => {},
): Promise<void> {
  const partial = `${path}.partial-${process.pid}-${randomBase62(6)}`
  try {
    const handle = await open(partial, 'wx', 0o600)
    try {
      for (let from = 0; from < bytes; from += PART_BYTES) {
        const span = { from, to: Math.min(bytes, from + PART_BYTES) }
        const part = await store.read(key, span, { patienceMs: BACKGROUND_PATIENCE })
        onPart(part)
        await handle.write(part, 0, part.length, from)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
