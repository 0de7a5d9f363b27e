import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, readConfig, SettingError } from '../base/settings/config.ts'

/**
 * The settings of the service to which a command belongs. A folder without a service is an error: with a misspelt
 * `--data-dir`, the command would otherwise begin a new service there, list nothing and verify nothing.
 */
export function existingConfig({ dataDir }: { dataDir?: string }): Config {
  const config = newOrExistingConfig({ dataDir })
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'wayleave.db'))) {
    throw new SettingError(
      `There is no service in ${config.dataDir} (it has no wayleave.db). Name its folder with --data-dir or WAYLEAVE_DATA_DIR; \`wayleave serve\` begins a new one.`,
    )
  }
  return config
}

/** The same for commands that may begin a new service. */
export function newOrExistingConfig({ dataDir }: { dataDir?: string }): Config {
  return readConfig({ flags: { dataDir } })
}
