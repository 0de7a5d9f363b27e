import { type Static, Type } from 'typebox'
import { nullable, oneOf, time } from './schema-parts.ts'

const kind = oneOf(['grant', 'correction', 'download', 'refund'])

export const ledgerRowSchema = Type.Object({
  id: Type.Integer(),
  at: time,
  kind,
  amount: Type.Integer({ description: 'Positive: credits that came. Negative: credits that were spent.' }),
  balance: Type.Integer({ description: 'What was left after it.' }),
  keyId: nullable(Type.String()),
  table: nullable(Type.String()),
  version: nullable(Type.Integer()),
  format: nullable(Type.String()),
  actor: nullable(Type.String({ description: 'Who did it: `user:<id>`, `key:<id>` or `operator`.' })),
})

/** One change of an organization's credits. */
export type LedgerRow = Static<typeof ledgerRowSchema>

/** A download that is paid and can be repeated without paying. */
export const purchaseSchema = Type.Object({
  version: Type.Integer(),
  format: Type.String(),
  paidAt: Type.String(),
  freeUntil: Type.String({ description: 'Until then, downloading the same file again costs nothing.' }),
})

export type PurchaseRecord = Static<typeof purchaseSchema>
