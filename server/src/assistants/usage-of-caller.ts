import type { KeyUsage } from '@wayleave/contract/records'

/** What the key of the caller used, and what its organization has left. */
export interface UsageOfCaller {
  /** Null without a key. */
  report(dates: { startDate?: string; endDate?: string }): Promise<KeyUsage | null>
  /** Null without an organization. */
  balance(): Promise<number | null>
}
