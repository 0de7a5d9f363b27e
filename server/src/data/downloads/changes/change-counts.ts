import { hasStableIds } from '@wayleave/geodata/exports'
import type { Db } from '../../../base/database/open.ts'
import { Problem } from '../../../base/problem.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Version } from '../../catalog/dataset.ts'
import { readUncompared, storeChanges } from '../../catalog/version-changes-store.ts'
import { PRIORITIES } from '../../jobs/job-kinds.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { ExportJobRequest } from '../exports/export-job.ts'

/** Max versions that one sweep requests. */
const MAX_VERSIONS = 100

interface ChangeCountsDeps {
  db: Db
  catalog: Catalog
  jobs: JobQueue
}

/**
 * Has new versions compared with their predecessors, in the background after they have become visible, so that lists
 * of versions can say how many features were added, removed and changed.
 */
export class ChangeCounts {
  readonly #parts: ChangeCountsDeps

  constructor(parts: ChangeCountsDeps) {
    this.#parts = parts
  }

  async sweep(): Promise<void> {
    for (const { table, version } of await readUncompared(this.#parts.db, MAX_VERSIONS))
      await this.#request(table, version)
  }

  async #request(table: string, number: number): Promise<void> {
    const { db, catalog, jobs } = this.#parts
    const versions = await catalog.versions(table).catch((error: unknown) => {
      // It was removed meanwhile.
      if (error instanceof Problem && error.code === 'not-found') return []
      throw error
    })
    const index = versions.findIndex(({ version }) => version === number)
    if (index < 0) return
    const version = versions[index]!
    const since: Version | undefined = versions[index + 1]
    if (!since || !hasStableIds(since.manifest)) return storeChanges(db, version, null)
    const request: ExportJobRequest = {
      version: version.version,
      since: since.version,
      format: 'changes-counts',
      encoding: 'identity',
      escapeFormulas: false,
    }
    const { snapshot } = version
    const key = `${snapshot} changes-counts`
    await jobs.add({ kind: 'export', table, queue: snapshot, key, request, priority: PRIORITIES.tiles })
  }
}
