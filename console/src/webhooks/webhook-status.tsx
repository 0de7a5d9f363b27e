import type { DeliveryRecord, WebhookRecord } from '@wayleave/contract/records'

const ofWebhook = {
  active: <span className="badge good">Active</span>,
  failing: <span className="badge warn">Failing</span>,
  paused: <span className="badge bad">Paused</span>,
}

const ofDelivery = {
  waiting: <span className="badge">Waiting</span>,
  delivered: <span className="badge good">Delivered</span>,
  failed: <span className="badge bad">Failed</span>,
}

export function WebhookStatus({ status }: Pick<WebhookRecord, 'status'>) {
  return ofWebhook[status]
}

export function DeliveryState({ state }: Pick<DeliveryRecord, 'state'>) {
  return ofDelivery[state]
}
