import { EXPORT_FORMAT_NAMES, type ExportFormat } from '@wayleave/contract/export-formats'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { Problem, type ProblemCode, problems } from '../../../base/problem.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Version } from '../../catalog/dataset.ts'
import { JobObsoleteError } from '../../jobs/job-errors.ts'
import type { JobRow } from '../../jobs/job-store.ts'

/** `changes-counts` makes no file: it counts the changes since the version before. */
const CHANGES = ['changes-ndjson', 'changes-geoparquet', 'changes-places', 'changes-counts'] as const
type StoredFormat = ExportFormat | (typeof CHANGES)[number]

/** What an export job stores, so that any worker can build the file. */
const storedJob = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    format: Type.Unsafe<StoredFormat>(Type.Enum([...EXPORT_FORMAT_NAMES, ...CHANGES])),
    /** For changes: the version that they begin with. */
    since: Type.Optional(Type.Integer({ minimum: 1 })),
    encoding: Type.Unsafe<'identity' | 'gzip' | 'zstd'>(Type.Enum(['identity', 'gzip', 'zstd'])),
    /** A setting of the node that asks: it looks for the file under the name that belongs to it. */
    escapeFormulas: Type.Boolean(),
    /** The HTTP request that began to wait for the file, for the log. */
    requestId: Type.Optional(Type.String({ maxLength: 128 })),
  },
  { additionalProperties: false },
)
export type ExportJobRequest = Static<typeof storedJob>

/** Returns null if the value is not what this program has stored. */
export function parseExportJob({ request }: JobRow): ExportJobRequest | null {
  const stored: unknown = JSON.parse(request ?? 'null')
  return Value.Check(storedJob, stored) ? stored : null
}

/** The problem that a worker stores, and that every request waiting for the job responds with. */
export interface BuildProblem {
  code: ProblemCode
  detail: string
}

/** The version that a job builds something of. Throws a JobObsoleteError if it was removed meanwhile. */
export async function requireVersion(catalog: Catalog, table: string, number: number): Promise<Version> {
  return catalog.version(table, String(number)).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not-found') throw removed(table, number)
    throw error
  })
}

/**
 * Throws a JobObsoleteError if the version was removed while something of it was built: its files vanish then, and
 * the build fails in any way.
 */
export async function requireStillThere(
  catalog: Catalog,
  { table, version, snapshot }: Version,
): Promise<void> {
  const current = await requireVersion(catalog, table, version)
  if (current.snapshot !== snapshot) throw removed(table, version)
}

function removed(table: string, version: number): JobObsoleteError {
  return new JobObsoleteError(`The version ${version} of the dataset "${table}" was removed.`)
}

export function problemOfBuild(error: unknown): BuildProblem {
  if (error instanceof JobObsoleteError) return { code: 'not-found', detail: error.message }
  if (error instanceof Problem) return { code: error.code, detail: error.detail }
  return { code: 'build-failed', detail: 'Something failed on our side. The log has it under the job’s id.' }
}

/** In seconds. */
const RETRY_AFTER: Record<string, string> = { 'disk-full': '60', 'storage-unavailable': '10' }

/** Throws what the worker stored, unless the job is done. */
export function requireBuilt({ state, problem }: JobRow): void {
  if (state === 'done') return
  if (state === 'cancelled' && problem === null)
    throw new Problem('export-not-ready', 'The build was cancelled.', { headers: { 'retry-after': '15' } })
  const stored = JSON.parse(problem ?? '{}') as { code?: string; detail?: string }
  const code =
    stored.code !== undefined && Object.hasOwn(problems, stored.code) ? stored.code : 'build-failed'
  const retryAfter = RETRY_AFTER[code]
  const headers: Record<string, string> = retryAfter ? { 'retry-after': retryAfter } : {}
  throw new Problem(code as ProblemCode, stored.detail, { headers })
}
