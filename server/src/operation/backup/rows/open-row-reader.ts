import { MINUTE, SECOND } from '../../../base/clock.ts'
import type { Config } from '../../../base/settings/config.ts'
import { openPostgresReader } from './postgres-rows-store.ts'
import type { RowReader } from './row-database.ts'
import { openSqliteReader, sqliteFile } from './sqlite-rows-store.ts'

type ReadDatabase = Pick<Config, 'databaseUrl' | 'dataDir'> & Partial<Pick<Config, 'databaseTimeout'>>

/** Opens the control database that the settings name, without migrating it. */
export function openRowReader(config: ReadDatabase): Promise<RowReader> {
  return config.databaseUrl
    ? openPostgresReader(config.databaseUrl, Math.max(MINUTE, (config.databaseTimeout ?? 0) * SECOND))
    : openSqliteReader(sqliteFile(config.dataDir))
}
