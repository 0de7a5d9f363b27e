import { performRequests } from '../../threads/perform-requests.ts'
import { type FileChecksums, FileHasher } from './file-checksums.ts'

/** Hash a file up to `end`, from where the last request with the same number ended. */
export interface ChecksumsRequest {
  file: number
  path: string
  end: number
  isLast: boolean
}

const files = new Map<number, FileHasher>()

performRequests(perform, () => [])

async function perform({ file, path, end, isLast }: ChecksumsRequest): Promise<FileChecksums | null> {
  // Without what was read before, for example in a thread that ended since, it is read from its beginning.
  const hasher = files.get(file) ?? new FileHasher()
  files.set(file, hasher)
  await hasher.read(path, end)
  if (!isLast) return null
  files.delete(file)
  return hasher.finish()
}
