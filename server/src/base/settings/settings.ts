import { accountsSettings } from './accounts.ts'
import { billingSettings } from './billing.ts'
import { databasesSettings } from './databases.ts'
import { instanceSettings } from './instance.ts'
import { jobsSettings } from './jobs.ts'
import { limitsSettings } from './limits.ts'
import { mailSettings } from './mail.ts'
import { notificationsSettings } from './notifications.ts'
import { operationSettings } from './operation.ts'
import { publishingSettings } from './publishing.ts'
import { retentionSettings } from './retention.ts'
import { signOnSettings } from './sign-on.ts'
import { siteSettings } from './site.ts'
import { sourcesSettings } from './sources.ts'
import { storageSettings } from './storage.ts'
import { threadsSettings } from './threads.ts'

/** The settings by topic, in the order of docs/settings.md. */
export const settingGroups = [
  { title: 'The service', settings: instanceSettings },
  { title: 'Threads', settings: threadsSettings },
  { title: 'Pages', settings: siteSettings },
  { title: 'Databases and clocks', settings: databasesSettings },
  { title: 'Storage', settings: storageSettings },
  { title: 'Mail', settings: mailSettings },
  { title: 'Accounts and keys', settings: accountsSettings },
  { title: 'Sign-in', settings: signOnSettings },
  { title: 'Billing', settings: billingSettings },
  { title: 'Limits', settings: limitsSettings },
  { title: 'Publishing', settings: publishingSettings },
  { title: 'Sources', settings: sourcesSettings },
  { title: 'Jobs and workers', settings: jobsSettings },
  { title: 'Webhooks and logs of requests', settings: notificationsSettings },
  { title: 'Retention', settings: retentionSettings },
  { title: 'Operation', settings: operationSettings },
] as const

/** Every setting by its name. */
export const settings = {
  ...instanceSettings,
  ...threadsSettings,
  ...siteSettings,
  ...databasesSettings,
  ...storageSettings,
  ...mailSettings,
  ...accountsSettings,
  ...signOnSettings,
  ...billingSettings,
  ...limitsSettings,
  ...publishingSettings,
  ...sourcesSettings,
  ...jobsSettings,
  ...notificationsSettings,
  ...retentionSettings,
  ...operationSettings,
} as const
