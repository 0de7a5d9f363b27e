import { type ControlDatabase, deleteInSteps } from './open.ts'

/**
 * A process that missed changes this old begins with empty caches. The newest row stays: by its token a node
 * recognizes the history that it has followed.
 */
export async function deleteChangesBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'changes', (row) =>
    row.and([
      row('at', '<', at),
      row('number', '<', row.selectFrom('change_number').select('change_number.number')),
    ]),
  )
}
