import { daysOrForever, integer } from './parsers.ts'
import { setting } from './setting.ts'

/** How long things are kept. */
export const retentionSettings = {
  keepVersions: setting(
    'WAYLEAVE_KEEP_VERSIONS',
    null as number | null,
    integer(1, 1_000_000),
    'How many versions of a dataset are kept. Without it, all.',
  ),
  trashDays: setting(
    'WAYLEAVE_TRASH_DAYS',
    7,
    integer(0, 3650),
    'Days for which the files of removed datasets and versions stay in the trash before they are deleted.',
  ),
  keepEventDays: setting(
    'WAYLEAVE_KEEP_EVENT_DAYS',
    730 as number | null,
    daysOrForever(1),
    'Days for which events of the audit log are kept, or "forever".',
  ),
  keepUsageDays: setting(
    'WAYLEAVE_KEEP_USAGE_DAYS',
    800 as number | null,
    daysOrForever(367),
    'Days for which usage by key and day is kept, or "forever". Reports reach back 366 days.',
  ),
  keepDeadKeyDays: setting(
    'WAYLEAVE_KEEP_DEAD_KEY_DAYS',
    400 as number | null,
    daysOrForever(1),
    'Days for which the records of revoked and of expired keys are kept, or "forever".',
  ),
  keepRevocationDays: setting(
    'WAYLEAVE_KEEP_REVOCATION_DAYS',
    800 as number | null,
    daysOrForever(1),
    'Days for which hashes of revoked secrets are kept in the database, or "forever". A backup older than this should not be restored.',
  ),
  keepExportDays: setting(
    'WAYLEAVE_KEEP_EXPORT_DAYS',
    90 as number | null,
    daysOrForever(1),
    'Days after which an export that was not downloaded is deleted, or "forever". It is built again on demand.',
  ),
  keepMailDays: setting(
    'WAYLEAVE_KEEP_MAIL_DAYS',
    30 as number | null,
    daysOrForever(1),
    'Days for which mails stay in the outbox folder, or "forever".',
  ),
} as const
