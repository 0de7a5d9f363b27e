import type { Tx } from '../database/open.ts'
import { Problem } from '../problem.ts'

/** One attempt to carry out a request that has an Idempotency-Key. */
export interface Attempt {
  id: string
  /** Random, new for each attempt: only the attempt that holds it may carry out the request (fencing token). */
  token: string
}

/**
 * Records in the transaction of a change that the request is carried out. Throws, which rolls the change back, if
 * another attempt has taken over.
 */
export async function markCarriedOut(tx: Tx, { id, token }: Attempt, subject: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set(({ fn, val }) => ({ carried_out: fn.coalesce('carried_out', val(subject)) }))
    .where('id', '=', id)
    .where('token', '=', token)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new Problem('idempotency-in-progress')
}
