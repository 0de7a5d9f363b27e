import { noteKeyExpiries } from '../accounts/notices/key-expiry.ts'
import { deleteMarksBefore } from '../accounts/notices/notice-store.ts'
import { trimRequestLog } from '../accounts/request-log/store.ts'
import { deleteDeliveriesBefore } from '../accounts/webhooks/store.ts'
import { DAY, MINUTE, plus } from '../base/clock.ts'
import type { ControlDatabase } from '../base/database/open.ts'
import type { Config } from '../base/settings/config.ts'

/** Longer than the time between the first notice of a key and its end. */
const MARK_DAYS = 60

export interface TidyDeps {
  /** Adds work that runs from time to time, with the time that old rows are compared with. */
  tidy: (name: string, every: number, work: (now: Date) => Promise<unknown>) => void
  database: ControlDatabase
  config: Pick<Config, 'requestLogDays' | 'requestLogRows' | 'keepDeliveryDays'>
}

/** What is done from time to time for webhooks, notices and the log of requests. */
export function tidyNotifications({ tidy, database, config }: TidyDeps): void {
  const { requestLogDays, requestLogRows: maxRows, keepDeliveryDays } = config
  const before = (now: Date, days: number) => plus(now, -days * DAY).toISOString()
  tidy('keys that expire', 5 * MINUTE, (now) => noteKeyExpiries(database, now))
  tidy('old marks of notices', 60 * MINUTE, (now) => deleteMarksBefore(database, before(now, MARK_DAYS)))
  tidy('old requests of keys', 10 * MINUTE, (now) =>
    trimRequestLog(database, { before: before(now, requestLogDays), maxRows }),
  )
  if (keepDeliveryDays === null) return
  tidy('old messages to webhooks', 60 * MINUTE, (now) =>
    deleteDeliveriesBefore(database, before(now, keepDeliveryDays)),
  )
}
