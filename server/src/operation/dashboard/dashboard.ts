import type { Dashboard } from '@wayleave/contract/records'
import { countOpenRequests } from '../../accounts/access-requests/access-request-store.ts'
import { readPartyNames } from '../../accounts/keys/party-name-store.ts'
import { type Clock, DAY } from '../../base/clock.ts'
import type { Db } from '../../base/database/open.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import { DiskSpace } from '../../http/observability/disk-space.ts'
import type { RequestMetrics } from '../../http/observability/request-metrics.ts'
import { countRows, jobsByState, usageByDataset, usageByDay, usageByOrganization } from './dashboard-store.ts'

const DAYS = 30
const MAX_ROUTES = 5

export interface DashboardDeps {
  db: Db
  clock: Clock
  catalog: Catalog
  requests: RequestMetrics
  dataDir: string
}

/** Collects the state of the whole service for its administrators. */
export class DashboardReports {
  readonly #deps: DashboardDeps
  readonly #space: DiskSpace
  readonly #startedAt: string

  constructor(deps: DashboardDeps) {
    this.#deps = deps
    this.#space = new DiskSpace(deps.dataDir)
    this.#startedAt = deps.clock().toISOString()
  }

  async read(): Promise<Dashboard> {
    const { db, catalog } = this.#deps
    const before = this.#dates(2 * DAYS).slice(0, DAYS)
    const dates = this.#dates(DAYS)
    const [byDay, byDataset, byOrganization, jobs, counts, openRequests, datasets] = await Promise.all([
      usageByDay(db, before[0]!),
      usageByDataset(db, dates[0]!),
      usageByOrganization(db, dates[0]!),
      jobsByState(db),
      countRows(db),
      countOpenRequests(db),
      catalog.all(),
    ])
    const daily = new Map(byDay.map((day) => [day.name, day]))
    const dayOf = (date: string) => {
      const { calls = 0, credits = 0 } = daily.get(date) ?? {}
      return { date, calls, credits }
    }
    const titles = new Map(datasets.map(({ table, title }) => [table, title]))
    const names = await readPartyNames(
      db,
      byOrganization.map(({ name }) => `organization:${name}`),
    )
    const { versions, ...accounts } = counts
    return {
      days: dates.map(dayOf),
      daysBefore: before.map(dayOf),
      datasets: byDataset.map(({ name, calls, credits }) => ({
        table: name,
        title: titles.get(name) ?? null,
        calls,
        credits,
      })),
      organizations: byOrganization.map(({ name, calls, credits }) => ({
        organizationId: name,
        name: names.get(`organization:${name}`) ?? null,
        calls,
        credits,
      })),
      responses: this.#responses(),
      jobs,
      storage: {
        datasets: datasets.length,
        versions,
        bytes: datasets.reduce((sum, { manifest }) => sum + bytesOf(manifest.files), 0),
        freeBytes: this.#space.read().free,
      },
      accounts,
      openRequests,
    }
  }

  #responses(): Dashboard['responses'] {
    const { requests } = this.#deps
    const responses = { total: 0, clientErrors: 0, serverErrors: 0 }
    for (const [status, count] of requests.byStatus()) {
      responses.total += count
      if (status >= 500) responses.serverErrors += count
      else if (status >= 400) responses.clientErrors += count
    }
    return { since: this.#startedAt, ...responses, failingRoutes: requests.failingRoutes(MAX_ROUTES) }
  }

  /** The last days up to today, in UTC. */
  #dates(length: number): string[] {
    const today = this.#deps.clock().getTime()
    return Array.from({ length }, (_, i) =>
      new Date(today - (length - 1 - i) * DAY).toISOString().slice(0, 10),
    )
  }
}

function bytesOf(files: Record<string, { bytes: number }>): number {
  return Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0)
}
