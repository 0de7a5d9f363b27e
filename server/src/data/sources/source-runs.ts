import { InvalidSourceError, SourceError } from '@wayleave/geodata/compile'
import type { Logger } from 'pino'
import { readMembers } from '../../accounts/access/membership-store.ts'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { sourceFailedMail } from '../../base/mail/mail-texts.ts'
import type { PublishOptions, PublishReport } from '../publishing/publish-request.ts'
import { requirePublisher } from '../publishing/publishing-checks.ts'
import type { Validators } from './fetch/fetch-options.ts'
import { fetchPart, publishSource, type SourceDeps, type SourceOptions } from './publish-source.ts'
import type { SourceKind } from './source-address.ts'
import type { SourceSettings } from './source-options.ts'
import { nextAttempt, nextRun } from './source-schedule.ts'
import type { Sources } from './sources.ts'
import { insertRun, type SourceRow, type SourceRunRow, updateSource } from './sources-store.ts'

interface SourceRunsDeps extends SourceDeps {
  database: ControlDatabase
  sources: Sources
  clock: Clock
  log: Logger
  mailer: Mailer
  baseUrl: () => string
  /** The mail addresses of the platform's administrators. */
  operators: readonly string[]
}

export interface RunOptions {
  isManual: boolean
  signal: AbortSignal
  onProgress?: PublishOptions['onProgress']
  compile?: PublishOptions['compile']
  beside?: SourceOptions['beside']
  share?: SourceOptions['share']
  /** Runs in the transaction that stores the outcome; null if nothing was published. */
  finish?: (tx: Tx, report: PublishReport | null) => Promise<void>
}

/**
 * Refreshes datasets from their sources. The outcome of a run, the time of the next one and, if something is new, the
 * version are stored together. A failed run leaves the version before in place.
 */
export class SourceRuns {
  readonly #parts: SourceRunsDeps

  constructor(parts: SourceRunsDeps) {
    this.#parts = parts
  }

  /** Returns null if nothing has changed. Throws why it failed, after the failure is recorded. */
  async run(table: string, origin: Origin, options: RunOptions): Promise<PublishReport | null> {
    const { sources, database, clock } = this.#parts
    const source = await sources.require(table)
    const startedAt = clock().toISOString()
    let bytes = 0
    const runRow = (outcome: SourceRunRow['outcome'], known: Partial<SourceRunRow> = {}): SourceRunRow => ({
      id: newId('run'),
      table_name: table,
      started_at: startedAt,
      ended_at: clock().toISOString(),
      outcome,
      is_manual: options.isManual ? 1 : 0,
      version: null,
      rows: null,
      bytes,
      problem: null,
      ...known,
    })
    try {
      await requirePublisher(database.db, table, source.owner_id)
      const published = await publishSource(requestOf(source, sources), origin, this.#parts, {
        ...(options.onProgress && { onProgress: options.onProgress }),
        ...(options.compile && { compile: options.compile }),
        ...(options.beside && { beside: options.beside }),
        ...(options.share && { share: options.share }),
        signal: options.signal,
        onBytes: (count) => {
          bytes = count
          options.onProgress?.({ phase: 'reading', rows: 0, bytesRead: count, totalBytes: null })
        },
        alongside: (validators) => async (tx, report) => {
          await options.finish?.(tx, report)
          await insertRun(tx, runRow('published', { version: report.version, rows: report.rows }))
          await this.#succeed(tx, source, validators)
        },
      })
      if (published) return published.report
      await database.db.transaction().execute(async (tx) => {
        await options.finish?.(tx, null)
        await insertRun(tx, runRow('unchanged'))
        await this.#succeed(tx, source, null)
      })
      return null
    } catch (error) {
      // Other errors are not the source's: the job is run again, or the server stops.
      if (!options.signal.aborted && error instanceof SourceError)
        await this.#fail(source, origin, runRow('failed', { problem: problemText(error) }))
      throw error
    }
  }

  /** Fetches the files that a part of a source reads. Returns the path of the source. */
  async fetchPart(
    { table, lastModified }: { table: string; lastModified: string },
    { folder, names, signal }: { folder: string; names: string[]; signal: AbortSignal },
  ): Promise<string> {
    const { sources } = this.#parts
    const request = requestOf(await sources.require(table), sources)
    return fetchPart(request, this.#parts, { folder, signal, only: { names, lastModified } })
  }

  async #succeed(tx: Tx, source: SourceRow, validators: Validators | null): Promise<void> {
    const { schedule, table_name: table } = source
    const next = schedule === null ? null : nextRun(schedule, this.#parts.clock()).toISOString()
    await updateSource(tx, table, {
      failures: 0,
      next_run_at: next,
      ...(validators && { validators: JSON.stringify(validators) }),
    })
  }

  async #fail(source: SourceRow, origin: Origin, run: SourceRunRow): Promise<void> {
    const { database, clock, log } = this.#parts
    const { table_name: table, schedule, owner_id: organizationId } = source
    const failures = source.failures + 1
    await database.db.transaction().execute(async (tx) => {
      await insertRun(tx, run)
      const next = nextAttempt(schedule, failures, clock())
      await updateSource(tx, table, { failures, next_run_at: next?.toISOString() ?? null })
      const detail = { problem: run.problem, failures }
      await recordEvent(tx, clock(), origin, {
        action: 'source.failed',
        organizationId,
        subject: `dataset:${table}`,
        detail,
      })
    })
    log.warn({ table, failures }, `The source of ${table} could not be published: ${run.problem}`)
    // Once, until it works again.
    if (failures === 1) await this.#mail(source, run.problem!)
  }

  /**
   * Sends a mail to the user who set the source, otherwise to the administrators. Who has left the organization need
   * not know what is in its files.
   */
  async #mail({ table_name: table, created_by, owner_id }: SourceRow, problem: string): Promise<void> {
    const { mailer, operators, baseUrl, database } = this.#parts
    const [, userId] = /^user:(.+)$/.exec(created_by) ?? []
    const members = owner_id === null ? [] : await readMembers(database.db, owner_id)
    const user = members.find((member) => member.userId === userId)?.email
    const link = `${baseUrl()}/datasets/${table}`
    for (const to of user ? [user] : operators) mailer.post(sourceFailedMail(to, link, table, problem))
  }
}

function requestOf(source: SourceRow, sources: Sources) {
  const { sourceTable, query, ...options } = JSON.parse(source.options) as SourceSettings
  const { kind, address, owner_id: ownerId, table_name: table } = source
  const { geometryColumn } = options
  return {
    source: { kind: kind as SourceKind, address, sourceTable, query, geometryColumn },
    credentials: sources.credentialsOf(source),
    isOperator: ownerId === null,
    publish: { ...options, table, ...(ownerId !== null && { ownerId }), description: {} },
    validators: source.validators === null ? undefined : (JSON.parse(source.validators) as Validators),
  }
}

function problemText(error: SourceError): string {
  const rows = error instanceof InvalidSourceError ? error.problems.slice(0, 5) : []
  const lines = rows.map(({ row, message }) => `Row ${row}: ${message}`)
  return [error.message, ...lines].join('\n').slice(0, 4000)
}
