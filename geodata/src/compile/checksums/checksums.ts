import { stat } from 'node:fs/promises'
import { RequestThread } from '../../threads/request-thread.ts'
import type { ChecksumsRequest } from './checksums-thread.ts'
import { type FileChecksums, FileHasher } from './file-checksums.ts'

/** A file whose checksums are computed while it is written. */
export interface GrowingFile {
  /** Call it with the next bytes when they are in the file. */
  written(bytes: Uint8Array): void
  finish(): Promise<FileChecksums>
}

/** Computes the checksums of a snapshot's files. */
export interface Checksums {
  of(path: string): Promise<FileChecksums>
  follow(path: string): GrowingFile
}

/** Computes them at once. */
export const checksumsHere: Checksums = {
  async of(path) {
    const hasher = new FileHasher()
    await hasher.read(path, (await stat(path)).size)
    return hasher.finish()
  },
  follow() {
    const hasher = new FileHasher()
    return {
      written: (bytes) => hasher.update(bytes),
      finish: async () => hasher.finish(),
    }
  },
}

const ENTRY = new URL('./checksums-thread.ts', import.meta.url)
const IDLE_MS = 10_000

/**
 * Computes them in a thread, which reads what was written: hashing takes as long as merging the pack, and the system
 * still has what it reads in memory.
 */
export function checksumsInThread(): Checksums {
  const thread = new RequestThread<ChecksumsRequest, FileChecksums | null>(ENTRY, IDLE_MS)
  let files = 0
  const finish = async (request: Omit<ChecksumsRequest, 'isLast'>) =>
    (await thread.perform({ ...request, isLast: true }, []))!
  return {
    of: async (path) => finish({ file: ++files, path, end: (await stat(path)).size }),
    follow(path) {
      const file = ++files
      let end = 0
      let failure: unknown = null
      return {
        written({ length }) {
          end += length
          thread
            .perform({ file, path, end, isLast: false }, [])
            .catch((error: unknown) => (failure ??= error))
        },
        async finish() {
          const checksums = await finish({ file, path, end })
          if (failure !== null) throw failure
          return checksums
        },
      }
    },
  }
}
