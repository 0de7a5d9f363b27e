import type { Command } from 'commander'
import { existingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'

interface AdoptFlags extends OperatorFlags {
  force?: boolean
}

export function adoptFolderCommand(): Command {
  return operatorCommand(
    'adopt-folder',
    'Declare that the data folder and the control database belong together, for example after a restore.',
    ['adopt-folder', 'adopt-folder --force'],
  )
    .option('--force', 'also if no snapshot proves it; versions without their snapshot then count as lost')
    .action(adopt)
}

async function adopt(flags: AdoptFlags): Promise<void> {
  const config = existingConfig(flags)
  const { dataDir } = config
  const { adoptFolder } = await import('../../data/installation/installation.ts')
  const { openStorage } = await import('../../data/blobs/open-storage.ts')
  const { makeLogger } = await import('../../http/observability/logger.ts')
  const storage = await openStorage(config, makeLogger('warn', undefined, config.logFormat))
  const state = await withControlPlane(flags, ({ database }) =>
    adoptFolder({ database, dataDir, blobs: storage.blobs, bucket: storage.bucket }, flags.force === true),
  ).finally(() => storage.close())
  const { databaseId, stored, named } = state
  print(
    flags,
    { installationId: databaseId, dataDir, ...state },
    `The ${state.place} and the database are the installation ${databaseId}. It holds ${stored} snapshots; the database names ${named}.`,
  )
}
