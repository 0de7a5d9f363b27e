/** An inconsistency, and how to fix it. */
export interface Finding {
  severity: 'problem' | 'warning'
  /** The area that was checked: `ledger`, `catalog`, `snapshot`, … */
  check: string
  /** The object concerned, such as an organization's id or a snapshot's name. */
  subject: string
  message: string
  remedy: string
}
