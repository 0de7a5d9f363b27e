import type { World } from '../world.ts'
import type { AccountPromise } from './promises.ts'

interface LedgerRow {
  id: number
  kind: 'grant' | 'correction' | 'download' | 'refund'
  amount: number
  balance: number
  keyId: string | null
  table: string | null
  version: number | null
  format: string | null
}

/** The ledger adds up to the balance, contains every acknowledged change, and has no duplicate charges. */
export async function checkLedger(world: World, account: AccountPromise): Promise<LedgerRow[]> {
  const { run } = world
  const rows = await readLedger(world, account)
  const me = await world.send('GET', '/v1/organization/me', { token: account.accessToken })
  const sum = rows.reduce((total, { amount }) => total + amount, 0)
  const balance = me.body?.credits.balance
  run.expect(sum === balance, `the ledger of ${account.email} sums to its balance`, `${sum} and ${balance}`)
  let before = 0
  for (const row of rows) {
    const isSound = row.balance === before + row.amount && row.balance >= 0
    run.expect(isSound, 'each row of the ledger follows from the one before', JSON.stringify(row))
    before = row.balance
  }
  checkGrants(world, account, rows)
  checkCharges(world, account, rows)
  return rows
}

function checkGrants(world: World, account: AccountPromise, rows: LedgerRow[]): void {
  const granted = rows.filter(({ kind }) => kind === 'grant').map(({ amount }) => amount)
  for (const grant of account.grants) {
    const count = granted.filter((amount) => amount === grant.amount).length
    const holds = grant.pending ? count <= 1 : count === 1
    const promised = grant.pending
      ? `a grant of ${grant.amount} credits without a response happened once or never`
      : `a grant of ${grant.amount} credits that was acknowledged is in the ledger once`
    world.run.expect(holds, promised, `${count} times`)
  }
  const promisedAmounts = new Set(account.grants.map(({ amount }) => amount))
  const unexplained = granted.filter((amount) => !promisedAmounts.has(amount))
  world.run.expect(unexplained.length === 0, 'every grant was asked for', unexplained.join())
}

function checkCharges(world: World, account: AccountPromise, rows: LedgerRow[]): void {
  const nameOf = (keyId: string | null, table: string | null, format: string | null) =>
    `${keyId} ${table} ${format}`
  // The whole run takes less than the 24 hours in which a key may fetch again what it has paid for.
  const paid = new Map<string, number>()
  const charged = new Map<string, number>()
  for (const { kind, keyId, table, version, format } of rows) {
    if (kind !== 'download' && kind !== 'refund') continue
    const name = nameOf(keyId, table, format)
    const step = kind === 'download' ? 1 : -1
    paid.set(`${name} ${version}`, (paid.get(`${name} ${version}`) ?? 0) + step)
    if (kind === 'download') charged.set(name, (charged.get(name) ?? 0) + 1)
  }
  for (const [name, count] of paid) {
    world.run.expect(count <= 1, 'a key pays once for one format of one version', `${count} times: ${name}`)
  }
  const told = new Map<string, number>()
  for (const { keyId, table, format } of account.charges) {
    const name = nameOf(keyId, table, format)
    told.set(name, (told.get(name) ?? 0) + 1)
  }
  for (const [name, count] of told) {
    const inLedger = charged.get(name) ?? 0
    world.run.expect(inLedger >= count, 'a charge that was told is in the ledger', `${inLedger} of ${count}`)
  }
}

/** Usage never loses credits and never counts a call twice. */
export async function checkUsage(world: World, account: AccountPromise, rows: LedgerRow[]): Promise<void> {
  const { run, promises } = world
  const path = `/v1/organization/${account.organizationId}/usage`
  const { status, body } = await world.send('GET', path, { token: account.accessToken })
  if (!run.expect(status === 200, 'the usage can be read', `${status}`)) return
  const spent = rows
    .filter(({ kind }) => kind === 'download' || kind === 'refund')
    .reduce((total, { amount }) => total - amount, 0)
  const { credits } = body.totals
  run.expect(credits === spent, `the usage of ${account.email} has every credit`, `${credits} of ${spent}`)
  for (const { keyId, calls } of body.keys as { keyId: string; calls: number }[]) {
    const sent = promises.requestsByKey[keyId] ?? 0
    run.expect(calls <= sent, 'no call is counted twice', `${calls} calls of ${sent} requests`)
  }
}

/** All rows, oldest first. */
async function readLedger(world: World, account: AccountPromise): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = []
  let before = ''
  for (;;) {
    const path = `/v1/organization/${account.organizationId}/ledger?limit=1000${before}`
    const { status, body } = await world.send('GET', path, { token: account.accessToken })
    if (status !== 200) throw new Error(`The ledger got ${status}.`)
    rows.push(...body.data)
    if (!body.next) return rows.reverse()
    before = `&before=${encodeURIComponent(body.next)}`
  }
}
