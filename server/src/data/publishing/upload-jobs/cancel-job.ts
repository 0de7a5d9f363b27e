import type { JobRecord } from '@wayleave/contract/records'
import type { Clock } from '../../../base/clock.ts'
import type { ControlDatabase } from '../../../base/database/open.ts'
import { type Origin, recordEvent } from '../../../base/events/events.ts'
import { isId } from '../../../base/id.ts'
import { notFound, Problem } from '../../../base/problem.ts'
import { type JobRow, readJob, setCancelled } from '../../jobs/job-store.ts'
import { jobRecord } from './job-record.ts'
import type { UploadFiles } from './upload-files.ts'

export interface CancelDeps {
  database: ControlDatabase
  clock: Clock
  uploads: UploadFiles
}

export async function requireJob({ database }: Pick<CancelDeps, 'database'>, id: string): Promise<JobRow> {
  const row = isId('job', id) ? await readJob(database.db, id) : undefined
  if (!row) throw notFound('such job')
  return row
}

/**
 * Ends a job for good, from any process: no process begins it again, and the process that publishes it cannot
 * make its version visible. That process notices within about a second and kills its child. The upload is
 * removed here. Cancelling a cancelled job changes nothing.
 */
export async function cancelJob(
  { database, clock, uploads }: CancelDeps,
  origin: Origin,
  id: string,
): Promise<JobRecord> {
  const { table_name: table } = await requireJob({ database }, id)
  const isCancelled = await database.db.transaction().execute(async (tx) => {
    if (!(await setCancelled(tx, id, clock().toISOString()))) return false
    await recordEvent(tx, clock(), origin, {
      action: 'job.cancelled',
      organizationId: null,
      subject: `job:${id}`,
      detail: { table },
    })
    return true
  })
  const row = await requireJob({ database }, id)
  if (!isCancelled && row.state !== 'cancelled') {
    throw new Problem('conflict', `The job is ${row.state} and cannot be cancelled.`)
  }
  // If the bucket is unreachable, a later sweep removes it.
  await uploads.removeSoon(id).catch(() => {})
  return jobRecord(row)
}
