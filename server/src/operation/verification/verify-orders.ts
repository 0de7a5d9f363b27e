import type { Db } from '../../base/database/open.ts'
import type { Finding } from './finding.ts'
import {
  invoiceGaps,
  ledgerRowsWithoutOrder,
  wrongCreditNotes,
  wrongOrders,
  wrongPayments,
} from './verification-store.ts'

const REMEDY = 'Compare orders and ledger with a backup and with the payment provider.'

/** Compares orders with the ledger and with the invoices. */
export async function verifyOrders(db: Db): Promise<Finding[]> {
  const problem = (subject: string, message: string): Finding => ({
    severity: 'problem',
    check: 'orders',
    subject,
    message,
    remedy: REMEDY,
  })
  return [
    ...(await wrongOrders(db)).map(({ id, booked, expected }) =>
      problem(id, `The ledger has ${booked} credits of this order, and it should have ${expected}.`),
    ),
    ...(await wrongPayments(db)).map(({ id, booked, expected }) =>
      problem(
        id,
        `The ledger has payments of ${booked} for this order, and it should have ${expected} (minor units).`,
      ),
    ),
    ...(await ledgerRowsWithoutOrder(db)).map(({ ledgerId }) =>
      problem(`ledger row ${ledgerId}`, 'The order of this row does not exist.'),
    ),
    ...(await wrongCreditNotes(db)).map(({ id, noted, refunded }) =>
      problem(
        id,
        `The credit notes are for ${noted}, and ${refunded} was refunded or cancelled (minor units).`,
      ),
    ),
    ...(await invoiceGaps(db)).map(({ prefix, lastNumber, invoices }) =>
      problem(
        `invoices ${prefix}`,
        `${lastNumber} numbers were given out, and there are ${invoices} invoices and credit notes with them.`,
      ),
    ),
  ]
}
