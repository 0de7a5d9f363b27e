import type { JobRecord } from '@wayleave/contract/records'
import type { JobRow } from '../../jobs/job-store.ts'

export function jobRecord(row: JobRow): JobRecord {
  const parsed = (text: string | null) => (text === null ? null : JSON.parse(text))
  return {
    id: row.id,
    kind: row.kind,
    table: row.table_name,
    state: row.state,
    progress: parsed(row.progress),
    report: row.kind === 'inspect' ? null : parsed(row.report),
    inspection: row.kind === 'inspect' ? parsed(row.report) : null,
    problem: parsed(row.problem),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
