import { type Static, Type } from 'typebox'
import { nullable, oneOf, time } from './schema-parts.ts'

export const LEDGER_KINDS = [
  'grant',
  'correction',
  'download',
  'refund',
  'purchase',
  'reversal',
  'lapse',
] as const
const kind = oneOf(LEDGER_KINDS)

export const ledgerRowSchema = Type.Object({
  id: Type.Integer(),
  at: time,
  kind,
  amount: Type.Integer({ description: 'Positive: credits that came. Negative: credits that were spent.' }),
  balance: Type.Integer({ description: 'What was left after it.' }),
  orderId: nullable(Type.String({ description: 'The order that brought or took back the credits.' })),
  keyId: nullable(Type.String({ description: 'Null for grants, and for downloads in the console.' })),
  keyName: nullable(Type.String({ description: 'If the key is deleted, its last name in the audit log.' })),
  table: nullable(Type.String()),
  version: nullable(Type.Integer()),
  format: nullable(Type.String()),
  actor: nullable(Type.String({ description: 'Who did it: `user:<id>`, `key:<id>` or `operator`.' })),
  member: nullable(
    Type.String({
      description: 'The mail address of the user who did it, or of the owner of the personal key.',
    }),
  ),
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
