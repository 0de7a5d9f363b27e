import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../settings/config.ts'
import { type OperatorFlags, operatorCommand, print } from './operator-command.ts'
import { withControlPlane } from './with-parts.ts'

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
  const { dataDir } = readConfig({ flags: { dataDir: flags.dataDir } })
  const { adoptFolder } = await import('../installation/installation.ts')
  const { FolderBlobs } = await import('../blobs/folder-blobs.ts')
  const state = await withControlPlane(flags, ({ database }) =>
    adoptFolder(
      { database, dataDir, blobs: new FolderBlobs(join(dataDir, 'snapshots')) },
      flags.force === true,
    ),
  )
  const { databaseId, stored, named } = state
  print(
    flags,
    { installationId: databaseId, ...state },
    `The data folder ${dataDir} and the database are the installation ${databaseId}. The folder holds ${stored} snapshots; the database names ${named}.`,
  )
}
