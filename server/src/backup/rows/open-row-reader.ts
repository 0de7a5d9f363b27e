import type { Config } from '../../settings/config.ts'
import { openPostgresReader } from './postgres-rows-store.ts'
import type { RowReader } from './row-database.ts'
import { openSqliteReader, sqliteFile } from './sqlite-rows-store.ts'

/** Opens the control database that the settings name, without migrating it. */
export function openRowReader(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<RowReader> {
  return config.databaseUrl
    ? openPostgresReader(config.databaseUrl)
    : openSqliteReader(sqliteFile(config.dataDir))
}
