import type { Changes } from '../../base/database/changes/changes.ts'

/**
 * Tells all nodes that files of a dataset were copied or repaired: they look again at the versions that they know to be
 * damaged or missing.
 */
export async function announceFiles({ commit }: Pick<Changes, 'commit'>, table: string): Promise<void> {
  await commit(async (_tx, changed) => changed('dataset', table))
}
