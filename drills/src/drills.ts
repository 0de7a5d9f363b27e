import type { Drill } from './drill.ts'
import { drill as billing } from './kinds/billing.ts'
import { drill as clockSkew } from './kinds/clock-skew.ts'
import { drill as damage } from './kinds/damage.ts'
import { drill as fullDisk } from './kinds/full-disk.ts'
import { drill as interruptedRestore } from './kinds/interrupted-restore.ts'
import { drill as killsPostgres } from './kinds/kills-postgres.ts'
import { drill as killsSqlite } from './kinds/kills-sqlite.ts'
import { drill as links } from './kinds/links.ts'
import { drill as olderDatabase } from './kinds/older-database.ts'
import { drill as pauses } from './kinds/pauses.ts'
import { drill as powerCuts } from './kinds/power-cuts.ts'
import { drill as recoveredDatabase } from './kinds/recovered-database.ts'
import { drill as redis } from './kinds/redis.ts'
import { drill as workers } from './kinds/workers.ts'

/** Every kind of drill, by the name that `npm run drills -- <name>` takes. */
export const drills: Record<string, Drill> = {
  'kills-sqlite': killsSqlite,
  'kills-postgres': killsPostgres,
  'power-cuts': powerCuts,
  pauses,
  links,
  'older-database': olderDatabase,
  'recovered-database': recoveredDatabase,
  'interrupted-restore': interruptedRestore,
  'full-disk': fullDisk,
  'clock-skew': clockSkew,
  damage,
  billing,
  redis,
  workers,
}
