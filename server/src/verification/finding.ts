/** Something that is not as it should be, and what to do about it. */
export interface Finding {
  severity: 'problem' | 'warning'
  /** What was looked at: `ledger`, `catalog`, `snapshot`, … */
  check: string
  /** What it is about, such as an organization's id or a snapshot's name. */
  subject: string
  message: string
  remedy: string
}
