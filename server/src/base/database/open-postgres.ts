import type { ControlDatabase } from './control-database.ts'
import { postgresDatabase } from './postgres-database.ts'
import { GuardedPool, type Patience } from './postgres-pool.ts'

export function openPostgres(url: string, patience: Patience): ControlDatabase {
  const pool = new GuardedPool(url, patience)
  return {
    ...postgresDatabase(url, pool),
    refuse: (error) => pool.refuse(error),
    hold: () => pool.hold(),
    checkServers: (isKnown) => pool.checkServers(isKnown),
    pending: () => pool.waiting,
  }
}
