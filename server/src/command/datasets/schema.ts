import type { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'
import { readSchemaFile } from './reading-flags.ts'

interface SchemaFlags extends OperatorFlags {
  set?: string
  fix?: boolean
  remove?: boolean
}

export function schemaCommand(): Command {
  return operatorCommand(
    'schema <table>',
    'Show or change what is fixed about the columns of a dataset. The next version is read by it and checked against it.',
    [
      'schema parcels',
      'schema parcels --fix',
      'schema parcels --set parcels.schema.json',
      'schema parcels --remove',
    ],
  )
    .option('--fix', 'fix the columns, types and formats of the current version')
    .option('--set <file>', 'fix what this JSON file says')
    .option('--remove', 'fix nothing')
    .action(schema)
}

async function schema(table: string, flags: SchemaFlags, command: Command): Promise<void> {
  const { set, fix, remove } = flags
  if ([set !== undefined, fix, remove].filter(Boolean).length > 1)
    command.error('error: give one of --fix, --set and --remove', { exitCode: 2 })
  const stated = set === undefined ? null : await readSchemaFile(set)
  const { describedSchema, schemaOfVersion } = await import(
    '../../data/publishing/schema/schema-of-version.ts'
  )
  const { storedSchema } = await import('../../data/publishing/schema/stored-schema.ts')
  const result = await withParts(flags, async ({ catalog, versions }) => {
    const change = { table, origin: operator }
    if (remove) await versions.fixSchema({ ...change, schema: null })
    else if (stated || fix) {
      const { manifest, columnNotes } = await catalog.find(table)
      const fixed = stated ?? describedSchema(schemaOfVersion(manifest), columnNotes)
      await versions.fixSchema({ ...change, schema: storedSchema(fixed) })
    }
    const { manifest, columnNotes } = await catalog.findAgain(table)
    const fixed = await versions.schema(table)
    return {
      isFixed: fixed !== null,
      ...describedSchema(fixed ?? schemaOfVersion(manifest), columnNotes),
    }
  })
  const { isFixed, ...rest } = result
  const about = isFixed
    ? `The schema of ${table}, which the next version has to fit:`
    : `Nothing is fixed about ${table}. Its current version has:`
  print(flags, result, `${about}\n${JSON.stringify(rest, null, 2)}`)
}
