import type { KeyRecord } from '@wayleave/contract/records'
import { ago } from '../words.ts'

const SOON_MS = 14 * 86_400_000

/** The status of a key, with a warning if it expires within 14 days. */
export function KeyStatus({ record }: { record: KeyRecord }) {
  const now = Date.now()
  if (record.status === 'revoked') return <span className="badge bad">Revoked</span>
  if (record.status === 'expired') return <span className="badge bad">Expired</span>
  if (record.expiresAt && Date.parse(record.expiresAt) - now < SOON_MS) {
    return <span className="badge warn">Expires {ago(record.expiresAt, now)}</span>
  }
  return <span className="badge good">{record.test ? 'Active, samples only' : 'Active'}</span>
}
