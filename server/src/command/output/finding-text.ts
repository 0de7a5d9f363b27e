import type { Finding } from '../../operation/verification/finding.ts'

export function findingText({ severity, check, subject, message, remedy }: Finding): string {
  return `${severity === 'problem' ? 'Problem' : 'Warning'} (${check}, ${subject}): ${message}\n  ${remedy}`
}
