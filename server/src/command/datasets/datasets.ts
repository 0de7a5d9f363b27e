import type { DatasetRecord } from '@wayleave/contract/records'
import type { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { count } from '../output/progress-line.ts'
import { withParts } from '../with-parts.ts'

export function datasetsCommand(): Command {
  return operatorCommand('datasets', 'List all datasets.', ['datasets', 'datasets --json']).action(list)
}

export function unpublishCommand(): Command {
  return operatorCommand('unpublish <table>', 'Remove a dataset with all its versions.', [
    'unpublish parcels',
  ]).action(unpublish)
}

async function list(flags: OperatorFlags): Promise<void> {
  const { datasetMetadata } = await import('../../data/catalog/metadata.ts')
  const data = await withParts(flags, async ({ catalog, baseUrl, tileStates }) =>
    Promise.all(
      (await catalog.all()).map(async (dataset) =>
        datasetMetadata(dataset, baseUrl.settled(), await tileStates.stateOf(dataset)),
      ),
    ),
  )
  const rows = data.map((dataset) => [
    dataset.table,
    dataset.title,
    String(dataset.rows),
    geometryText(dataset),
    String(dataset.version),
    dataset.visibility,
    String(dataset.credits),
    dataset.updatedAt.slice(0, 16).replace('T', ' '),
  ])
  const head = ['TABLE', 'TITLE', 'ROWS', 'GEOMETRY', 'VERSION', 'VISIBILITY', 'CREDITS', 'UPDATED']
  print(flags, { data }, tableText(head, rows, 'There are no datasets yet.'))
}

/** Lists up to two types, such as a type and its multi-type; more would make the table too wide. */
function geometryText({ geometryType, geometryTypes }: DatasetRecord): string {
  const areFew = geometryTypes.length > 0 && geometryTypes.length <= 2
  return areFew ? geometryTypes.join(', ') : (geometryType ?? '-')
}

async function unpublish(table: string, flags: OperatorFlags): Promise<void> {
  const days = await withParts(flags, async ({ publishing, config }) => {
    await publishing.unpublish(table, operator)
    return config.trashDays
  })
  print(
    flags,
    { table },
    `Removed ${table} with all its versions. Its files stay in the trash for ${count(days, 'day')}.`,
  )
}
