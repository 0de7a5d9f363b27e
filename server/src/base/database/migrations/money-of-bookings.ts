/** The money that a ledger row booked beside the credits. */
export function moneyOfBookings(kind: 'sqlite' | 'postgres'): string[] {
  return [`alter table ledger add column money ${kind === 'sqlite' ? 'integer' : 'bigint'}`]
}
