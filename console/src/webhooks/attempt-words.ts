import type { DeliveryAttempt } from '@wayleave/contract/records'

/** What the receiver responded, or why it did not. */
export function attemptWords({ status, error }: DeliveryAttempt): string {
  return error ?? `Responded ${status}`
}
