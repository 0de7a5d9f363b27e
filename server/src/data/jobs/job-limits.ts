import { type Config, SettingError } from '../../base/settings/config.ts'
import { JOB_KINDS, type JobKind } from './job-kinds.ts'

/** How many jobs of each kind this process runs at the same time. An API node and the command line run none. */
export function jobLimits(
  { role, publishJobs, exportJobs, tileJobs }: Config,
  serving: boolean,
): Record<JobKind, number> {
  if (!serving || role === 'api') return { publish: 0, inspect: 0, export: 0, tiles: 0, part: 0 }
  return { publish: publishJobs, inspect: publishJobs, export: exportJobs, tiles: tileJobs, part: tileJobs }
}

/** SQLite belongs to one server, which then has to do everything. */
export function requirePossibleRole({ role, databaseUrl }: Pick<Config, 'role' | 'databaseUrl'>): void {
  if (role === 'all' || databaseUrl) return
  throw new SettingError(
    `The role "${role}" needs PostgreSQL (WAYLEAVE_DATABASE_URL), because SQLite allows only one server.`,
  )
}

export function kindsOf(limits: Record<JobKind, number>): JobKind[] {
  return JOB_KINDS.filter((kind) => limits[kind] > 0)
}
