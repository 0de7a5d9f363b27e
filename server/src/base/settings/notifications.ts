import { daysOrForever, integer } from './parsers.ts'
import { setting } from './setting.ts'

/** Webhooks, and what owners of keys see of their own requests. */
export const notificationsSettings = {
  keepDeliveryDays: setting(
    'WAYLEAVE_KEEP_DELIVERY_DAYS',
    30 as number | null,
    daysOrForever(2),
    'Days for which messages to webhooks are kept after they were delivered or failed, or "forever".',
  ),
  requestLogDays: setting(
    'WAYLEAVE_REQUEST_LOG_DAYS',
    7,
    integer(0, 365),
    'Days for which the owner of a key sees its single requests. 0 records none.',
  ),
  requestLogRows: setting(
    'WAYLEAVE_REQUEST_LOG_ROWS',
    1_000_000,
    integer(1000, 1_000_000_000),
    'Requests of all keys that are kept, about 200 bytes each. Above this number the oldest are deleted before their days are over.',
  ),
} as const
