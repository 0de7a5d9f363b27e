import { lstat, readdir, readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { limitsOf, maxWrittenBytes, megabytes } from '../formats/reading/source-limits.ts'
import type { CompileOptions } from './compile-options.ts'
import { inputBytes } from './input-bytes.ts'
import { defaultMemoryMegabytes } from './memory.ts'

/** What a compilation may use, together with the programs that it starts. Absent limits are not checked. */
export interface ResourceLimits {
  /** The folders that it writes to, with all that is in them. */
  folders: string[]
  /** The max bytes in these folders. */
  maxBytes?: number | undefined
  /** The bytes that must stay free on the disks of these folders, so that other jobs and requests can go on. */
  minFreeBytes?: number | undefined
  /** The max resident memory of the process and of those that it started. Without `/proc` it is not checked. */
  maxResidentBytes?: number | undefined
  pid?: number | undefined
}

/** The limits for a compilation in a process, by the size of its file and the memory that it may use. */
export async function resourceLimitsOf(options: CompileOptions): Promise<ResourceLimits> {
  const { folder, resume, limits, gdal, memoryMegabytes = defaultMemoryMegabytes() } = options
  const fileBytes = await inputBytes(options)
  return {
    folders: resume ? [folder, resume.folder] : [folder],
    maxBytes: maxWrittenBytes(fileBytes, limitsOf(limits)),
    minFreeBytes: limits?.minFreeBytes,
    // The parts of the memory add up to more than the whole, and are rarely used at the same time.
    maxResidentBytes: (memoryMegabytes * 2 + (gdal?.megabytes ?? 0)) * 2 ** 20,
  }
}

export type ExceededResource = 'written' | 'disk' | 'memory'

export interface Exceeded {
  resource: ExceededResource
  /** The end of a sentence about the file: `… is refused: ${reason}.` */
  reason: string
}

const INTERVAL_MS = 1000

/**
 * Calls `onExceeded` once, when a limit is exceeded. The limits are checked every second from outside of the
 * compiling process, which may be blocked in a library. Returns a function that ends the checks.
 */
export function watchResources(
  limits: ResourceLimits,
  onExceeded: (exceeded: Exceeded) => void,
  intervalMs = INTERVAL_MS,
): () => void {
  let isStopped = false
  let timer: NodeJS.Timeout
  const check = async () => {
    const exceeded = await findExceeded(limits).catch(() => null)
    if (isStopped) return
    if (exceeded) onExceeded(exceeded)
    else timer = setTimeout(check, intervalMs).unref()
  }
  timer = setTimeout(check, intervalMs).unref()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

async function findExceeded(limits: ResourceLimits): Promise<Exceeded | null> {
  const { folders, maxBytes, minFreeBytes, maxResidentBytes, pid } = limits
  if (pid !== undefined && maxResidentBytes !== undefined && (await residentBytes(pid)) > maxResidentBytes)
    return {
      resource: 'memory',
      reason: `compiling it took more than ${megabytes(maxResidentBytes)} of memory. WAYLEAVE_PUBLISH_MEMORY sets how much a compilation may use`,
    }
  if (maxBytes !== undefined) {
    let bytes = 0
    for (const folder of folders) bytes += await writtenBytes(folder)
    if (bytes > maxBytes)
      return {
        resource: 'written',
        reason: `compiling it wrote more than ${megabytes(maxBytes)} to the disk, which its size does not justify. WAYLEAVE_MAX_EXPANSION sets how many times larger than its file a dataset may be`,
      }
  }
  for (const folder of minFreeBytes === undefined ? [] : folders) {
    const stats = await statfs(folder).catch(() => null)
    if (stats && stats.bavail * stats.bsize < minFreeBytes!)
      return {
        resource: 'disk',
        reason: `less than ${megabytes(minFreeBytes!)} are free on the disk, the limit of WAYLEAVE_MIN_FREE_BYTES`,
      }
  }
  return null
}

/** The bytes that a folder takes on the disk. Files may be removed while it is read. */
export async function writtenBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  let bytes = 0
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await writtenBytes(path)
    else if (entry.isFile()) bytes += (await lstat(path).catch(() => null))?.size ?? 0
  }
  return bytes
}

/** The resident memory of a process and all its descendants; 0 without `/proc`. Shared pages count once per process. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  let bytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  for (const child of await childrenOf(pid)) bytes += await residentBytes(child)
  return bytes
}

/** Each thread lists the processes that it started. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => '')),
  )
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}
