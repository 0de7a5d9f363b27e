import { JOB_KINDS, JOB_STATES, type JobKind, type JobState } from '@wayleave/contract/job-states'
import type { JobRecord } from '@wayleave/contract/records'
import { Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { existingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'

interface ListFlags extends OperatorFlags {
  kind: JobKind | 'all'
  state?: JobState
  limit: number
}

export function jobCommand(): Command {
  return new Command('job')
    .description('Jobs: uploads on their way to a version, and builds of download files and tiles.')
    .addCommand(
      operatorCommand('list', 'List the newest jobs.', [
        'job list',
        'job list --state running --json',
        'job list --kind all',
      ])
        .addOption(
          new Option('--kind <kind>', 'jobs of this kind').choices([...JOB_KINDS, 'all']).default('publish'),
        )
        .addOption(new Option('--state <state>', 'only jobs in this state').choices([...JOB_STATES]))
        .option('--limit <number>', 'how many', limitOf, 100)
        .action(list),
    )
    .addCommand(
      operatorCommand(
        'cancel <jobId>',
        'Cancel a job. Its file is not published, also not after a restart.',
        ['job cancel job_9tB3xQv5Lr1ZsW7nYc4D'],
      ).action(cancel),
    )
}

async function list(flags: ListFlags): Promise<void> {
  const { listJobs } = await import('../../data/jobs/job-store.ts')
  const { jobRecord } = await import('../../data/publishing/upload-jobs/job-record.ts')
  const kind = flags.kind === 'all' ? undefined : flags.kind
  const data = await withControlPlane(flags, async ({ database }) =>
    (
      await listJobs(database.db, {
        kind,
        state: flags.state,
        tables: null,
        ownerId: null,
        limit: flags.limit,
      })
    ).map(jobRecord),
  )
  const rows = data.map((job) => [job.id, job.kind, job.table, job.state, job.createdAt, noteOf(job)])
  print(
    flags,
    { data },
    tableText(['ID', 'KIND', 'TABLE', 'STATE', 'CREATED', 'NOTE'], rows, 'There are no such jobs.'),
  )
}

function limitOf(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new InvalidArgumentError('It is 1 to 10000.')
  return limit
}

function noteOf({ kind, state, progress, report, problem }: JobRecord): string {
  if (state === 'failed') return problem?.detail ?? ''
  if (kind !== 'publish') return ''
  if (state === 'done') return report?.version ? `version ${report.version}` : 'dry run'
  return progress ? `${progress.phase}, ${progress.rows} rows` : ''
}

async function cancel(id: string, flags: OperatorFlags): Promise<void> {
  const config = existingConfig(flags)
  const { cancelJob } = await import('../../data/publishing/upload-jobs/cancel-job.ts')
  const { UploadFiles } = await import('../../data/publishing/upload-jobs/upload-files.ts')
  const { isBucket, openBucket } = await import('../../base/storage/open-store.ts')
  const bucket = isBucket(config) ? await openBucket(config) : null
  const uploads = new UploadFiles(config.dataDir, bucket)
  const { JobMessages } = await import('../../data/jobs/job-messages.ts')
  const job = await withControlPlane(flags, async ({ database, changes }) => {
    const cancelled = await cancelJob({ database, clock: systemClock, uploads }, operator, id)
    await new JobMessages(changes).sendCancelled(id).catch(() => {})
    return cancelled
  }).finally(() => bucket?.close())
  print(flags, job, `Cancelled job ${id} of ${job.table}.`)
}
