import type { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'
import { type DescriptionFlags, descriptionOfFlags, withDescriptionFlags } from './description-flags.ts'

const WRONG_USAGE = { exitCode: 2 }

export function describeCommand(): Command {
  const command = operatorCommand(
    'describe <table>',
    'Change the description, the price or the visibility of a dataset. What is left out keeps its value; an empty text removes it.',
    [
      'describe parcels --license CC-BY-4.0 --contact data@example.org --update-frequency monthly',
      'describe salaries --visibility private',
      'describe sensors --columns sensors.columns.json',
    ],
  )
  return withDescriptionFlags(command).action(describe)
}

async function describe(
  table: string,
  flags: OperatorFlags & DescriptionFlags,
  command: Command,
): Promise<void> {
  const description = await descriptionOfFlags(flags)
  const fields = Object.entries(description)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => (name === 'columnNotes' ? 'columns' : name))
  if (fields.length === 0) command.error('error: Say what to change, for example with --title.', WRONG_USAGE)
  if (description.title === '') command.error('error: A title cannot be empty.', WRONG_USAGE)
  await withParts(flags, ({ publishing }) => publishing.describe(table, description, operator))
  print(flags, { table, changed: fields }, `Changed the description of ${table}.`)
}
