import type { KeyRecord } from '@wayleave/contract/records'

/** In a list, the others are counted. */
const SHOWN_IN_LIST = 2

/** The web pages and network addresses that may use a key, one a line. */
export function KeyCallers({ record, isInList = false }: { record: KeyRecord; isInList?: boolean }) {
  const entries = [...(record.allowedOrigins ?? []), ...(record.allowedAddresses ?? [])]
  if (entries.length === 0) return <span className="soft nowrap">Anyone with the secret</span>
  const shown = isInList ? entries.slice(0, SHOWN_IN_LIST) : entries
  return (
    <>
      {shown.map((entry) => (
        <div key={entry}>{entry}</div>
      ))}
      {shown.length < entries.length && <div className="soft">{entries.length - shown.length} more</div>}
    </>
  )
}
