import { JOB_STATES, type JobState } from '@wayleave/contract/job-states'
import type { JobRecord } from '@wayleave/contract/records'
import { Command, Option } from 'commander'
import { systemClock } from '../clock.ts'
import { operator } from '../events/events.ts'
import { readConfig } from '../settings/config.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from './operator-command.ts'
import { withControlPlane } from './with-parts.ts'

interface ListFlags extends OperatorFlags {
  state?: JobState
  limit: string
}

export function jobCommand(): Command {
  return new Command('job')
    .description('Jobs: uploads on their way to a version.')
    .addCommand(
      operatorCommand('list', 'List the newest jobs.', ['job list', 'job list --state running --json'])
        .addOption(new Option('--state <state>', 'only jobs in this state').choices([...JOB_STATES]))
        .option('--limit <number>', 'how many', '100')
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
  const { listJobs } = await import('../publishing/job-store.ts')
  const { jobRecord } = await import('../publishing/job-record.ts')
  const limit = Math.min(10_000, Math.max(1, Number.parseInt(flags.limit, 10) || 100))
  const data = await withControlPlane(flags, async ({ database }) =>
    (await listJobs(database.db, { state: flags.state, tables: null, limit })).map(jobRecord),
  )
  const rows = data.map((job) => [job.id, job.table, job.state, job.createdAt, noteOf(job)])
  print(
    flags,
    { data },
    tableText(['ID', 'TABLE', 'STATE', 'CREATED', 'NOTE'], rows, 'There are no such jobs.'),
  )
}

function noteOf({ state, progress, report, problem }: JobRecord): string {
  if (state === 'failed') return problem?.detail ?? ''
  if (state === 'done') return report?.version ? `version ${report.version}` : 'dry run'
  return progress ? `${progress.phase}, ${progress.rows} rows` : ''
}

async function cancel(id: string, flags: OperatorFlags): Promise<void> {
  const { cancelJob, uploadsFolder } = await import('../publishing/cancel-job.ts')
  const uploads = uploadsFolder(readConfig({ flags: { dataDir: flags.dataDir } }).dataDir)
  const job = await withControlPlane(flags, ({ database }) =>
    cancelJob({ database, clock: systemClock, uploads }, operator, id),
  )
  print(flags, job, `Cancelled job ${id} of ${job.table}.`)
}
