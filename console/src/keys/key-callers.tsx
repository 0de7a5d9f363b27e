import type { KeyRecord } from '@wayleave/contract/records'

/** The web pages and network addresses that may use a key. */
export function KeyCallers({ record }: { record: KeyRecord }) {
  const entries = [...(record.allowedOrigins ?? []), ...(record.allowedAddresses ?? [])]
  if (entries.length === 0) return <span className="soft">Anyone with the secret</span>
  const [first, second, ...more] = entries
  return (
    <span title={entries.join('\n')}>
      {[first, second].filter(Boolean).join(', ')}
      {more.length > 0 && ` and ${more.length} more`}
    </span>
  )
}
