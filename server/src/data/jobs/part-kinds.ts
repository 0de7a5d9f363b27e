import type { JobHandler, RunningJob } from './job-runner.ts'
import type { JobRow } from './job-store.ts'

/** Parts of sources and of tiles are jobs of one kind: they share the places of a worker. */
export class PartKinds implements JobHandler {
  readonly #sources: JobHandler & { isFor(row: JobRow): boolean }
  readonly #tiles: JobHandler

  constructor(sources: JobHandler & { isFor(row: JobRow): boolean }, tiles: JobHandler) {
    this.#sources = sources
    this.#tiles = tiles
  }

  run(job: RunningJob): Promise<void> {
    return this.#of(job.row).run(job)
  }

  problemOf(error: unknown, row: JobRow): object {
    return this.#of(row).problemOf(error, row)
  }

  tooManyAttempts(row: JobRow): unknown {
    return this.#of(row).tooManyAttempts(row)
  }

  #of(row: JobRow): JobHandler {
    return this.#sources.isFor(row) ? this.#sources : this.#tiles
  }
}
