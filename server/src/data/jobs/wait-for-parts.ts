import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { ObjectInfo } from '../../base/storage/object-store.ts'
import type { JobQueue } from './job-queue.ts'
import type { RunningJob } from './job-runner.ts'
import type { JobRow } from './job-store.ts'
import { DamagedStageError, type PartStage, PLAN } from './part-stage.ts'
import { listParts, type Whole } from './part-store.ts'

const POLL_EVERY = SECOND

/** Fewer parts are not worth it. */
export const MIN_PARTS = 4

/** Work that is divided into parts, which any worker does and puts into the stage. */
export interface PartedWork extends Whole, Pick<RunningJob, 'row' | 'signal' | 'resetAttempts'> {
  stage: PartStage
  /** The share of all work that each part is. */
  shares: readonly number[]
  /** What the job of a part stores. */
  requestOf(part: number): object
  /** The part that a job is of, if it is one of this program. */
  partOf(row: JobRow): number | undefined
  /** Throws why the whole cannot be done if a part has failed. */
  refuse(failed: JobRow): void
  /** Throws if the result is no longer wanted. */
  requireWanted?(): Promise<void>
  onProgress(share: number, parts: { done: number; total: number }): void
}

/** Adds a job for each part that is not finished, and waits until all are. Returns what is in the stage. */
export async function waitForParts(
  { database, jobs }: { database: ControlDatabase; jobs: JobQueue },
  work: PartedWork,
): Promise<Map<string, ObjectInfo>> {
  const { table, name, stage, shares, row, signal } = work
  let staged = new Map<string, ObjectInfo>()
  let ended = -1
  for (;;) {
    // Before the stage is listed: the result of a job that is done is there.
    const rows = await listParts(database.db, { table, name })
    const nowEnded = rows.filter(({ state }) => state !== 'waiting' && state !== 'running').length
    const open = openParts(rows, work)
    const missing = [...shares.keys()].filter((part) => !staged.has(String(part)))
    if (nowEnded !== ended || missing.some((part) => !open.has(part))) {
      staged = await stage.list()
      if (!staged.has(PLAN)) throw new DamagedStageError('The plan is missing.')
      if (ended >= 0) await work.resetAttempts()
      ended = nowEnded
    }
    const left = missing.filter((part) => !staged.has(String(part)))
    if (left.length === 0) return staged
    await work.requireWanted?.()
    for (const part of left) {
      if (open.has(part)) continue
      const own = `${name} ${part}`
      const request = work.requestOf(part)
      await jobs.add({ kind: 'part', table, queue: own, key: own, request, priority: row.priority })
    }
    work.onProgress(1 - left.reduce((sum, part) => sum + shares[part]! * (1 - (open.get(part) ?? 0)), 0), {
      done: shares.length - left.length,
      total: shares.length,
    })
    await sleep(POLL_EVERY, undefined, { signal })
  }
}

/** The parts that wait or are under way, and how much of each is done. */
function openParts(rows: JobRow[], { partOf, refuse }: PartedWork): Map<number, number> {
  const open = new Map<number, number>()
  for (const row of rows) {
    if (row.state === 'failed') refuse(row)
    const part = partOf(row)
    const { progress = 0 } = JSON.parse(row.progress ?? '{}') as { progress?: number }
    if (part !== undefined && (row.state === 'waiting' || row.state === 'running')) open.set(part, progress)
  }
  return open
}
