import type { Drill } from './drill.ts'
import { drill as killsPostgres } from './kinds/kills-postgres.ts'
import { drill as killsSqlite } from './kinds/kills-sqlite.ts'

/** Every kind of drill, by the name that `npm run drills -- <name>` takes. */
export const drills: Record<string, Drill> = {
  'kills-sqlite': killsSqlite,
  'kills-postgres': killsPostgres,
}
