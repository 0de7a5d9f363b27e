import { type ControlDatabase, deleteInSteps } from '../open.ts'

/**
 * Deletes old changes. A process that missed changes this old starts with empty caches. The newest row is
 * kept: a node uses its token to recognise the history that it has followed.
 */
export async function deleteChangesBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'changes', (row) =>
    row.and([
      row('at', '<', at),
      row('number', '<', row.selectFrom('change_number').select('change_number.number')),
    ]),
  )
}
