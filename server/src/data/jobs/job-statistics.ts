import { singleFlight } from '@wayleave/geodata/base'
import { SECOND } from '../../base/clock.ts'
import { withinTime } from '../../base/concurrency/within-time.ts'
import { JOB_KINDS, type JobKind } from './job-kinds.ts'
import type { JobCount } from './job-store.ts'

/** A scrape of Prometheus reads several metrics at once; they share one query. */
const FRESH = SECOND / 2
/** `/metrics` responds even if the database does not. */
const READ_WITHIN = SECOND

export interface JobNumbers {
  open: Record<JobKind, Record<'waiting' | 'running', number>>
  /** How long the oldest waiting job has waited, by kind; 0 if none waits. */
  oldestSeconds: Record<JobKind, number>
}

/** The open jobs of all processes, for the metrics. While the database is unreachable, the last numbers stay. */
export class JobStatistics {
  #last = summarize([])
  #readAt = Number.NEGATIVE_INFINITY
  readonly #read: () => Promise<void>

  constructor(count: () => Promise<JobCount[]>) {
    this.#read = singleFlight(async () => {
      this.#last = summarize(await withinTime(READ_WITHIN, count()))
      this.#readAt = performance.now()
    })
  }

  async read(): Promise<JobNumbers> {
    if (performance.now() - this.#readAt > FRESH) await this.#read().catch(() => {})
    return this.#last
  }

  /** The number of jobs of a kind that wait or run. */
  async countOf(kind: JobKind): Promise<number> {
    const { waiting, running } = (await this.read()).open[kind]
    return waiting + running
  }
}

function summarize(counts: readonly JobCount[]): JobNumbers {
  const byKind = <T>(numberOf: (kind: JobKind) => T) =>
    Object.fromEntries(JOB_KINDS.map((kind) => [kind, numberOf(kind)])) as Record<JobKind, T>
  const rowOf = (kind: JobKind, state: JobCount['state']) =>
    counts.find((row) => row.kind === kind && row.state === state)
  return {
    open: byKind((kind) => ({
      waiting: rowOf(kind, 'waiting')?.count ?? 0,
      running: rowOf(kind, 'running')?.count ?? 0,
    })),
    oldestSeconds: byKind((kind) => rowOf(kind, 'waiting')?.oldestSeconds ?? 0),
  }
}
