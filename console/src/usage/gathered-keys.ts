import type { OrganizationUsage } from '@wayleave/contract/records'

type KeyRow = OrganizationUsage['keys'][number]

/** The name that the service gives to the console's short-lived keys. */
const CONSOLE = 'Console'

/** One row for each key, except that all keys of the console share a row, and so do all deleted keys. */
export function gathered(rows: readonly KeyRow[], listed: ReadonlySet<string>): KeyRow[] {
  const known: KeyRow[] = []
  const sums = new Map<string, KeyRow>()
  for (const row of rows) {
    const name = row.name === null ? 'Keys that exist no more' : 'This console'
    if (row.name !== null && (listed.has(row.keyId) || row.name !== CONSOLE)) known.push(row)
    else {
      const sum = sums.get(name) ?? { keyId: name, name, calls: 0, credits: 0 }
      sums.set(name, { ...sum, calls: sum.calls + row.calls, credits: sum.credits + row.credits })
    }
  }
  return [...known, ...sums.values()]
}
