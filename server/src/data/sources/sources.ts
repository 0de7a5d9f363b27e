import type { JobRecord, SourceRecord, SourceRunRecord } from '@wayleave/contract/records'
import { SourceError } from '@wayleave/geodata/compile'
import { KeyCipher } from '../../accounts/identity/key-cipher.ts'
import type { Clock } from '../../base/clock.ts'
import { HOUR, plus } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { type Origin, recordEvent, system } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { readNameOwner } from '../catalog/name-owner-store.ts'
import { PRIORITIES, queueOf } from '../jobs/job-kinds.ts'
import type { JobMessages } from '../jobs/job-messages.ts'
import { insertOrJoinJob, SOURCE_JOB, waitingJob } from '../jobs/job-store.ts'
import { jobRecord } from '../publishing/upload-jobs/job-record.ts'
import {
  parseSourceAddress,
  type SourceAddress,
  type SourceCredentials,
  type SourceKind,
} from './source-address.ts'
import { printSourceJob } from './source-job-request.ts'
import type { SourceSettings } from './source-options.ts'
import { nextRun, requireSchedule } from './source-schedule.ts'
import {
  deleteRuns,
  deleteSource,
  listSources,
  putSource,
  readDueSources,
  readRuns,
  readSource,
  type SourceRow,
  updateSource,
} from './sources-store.ts'

/** Max sources that one sweep starts. */
const MAX_DUE = 100

export interface NewSource {
  table: string
  ownerId: string | null
  /** May contain a user name and a password. */
  address: string
  headers?: Record<string, string> | undefined
  /** Null: only by hand. */
  every: string | null
  settings: SourceSettings
}

interface SourcesDeps {
  database: ControlDatabase
  messages: JobMessages
  clock: Clock
  nodeId: string
  secretKey: string | null
}

/**
 * The addresses that datasets are refreshed from. A worker runs those that are due as publishing jobs, so that a
 * source and an upload of the same table follow each other.
 */
export class Sources {
  readonly #parts: SourcesDeps
  readonly #cipher: KeyCipher

  constructor(parts: SourcesDeps) {
    this.#parts = parts
    this.#cipher = new KeyCipher(parts.secretKey, {
      what: 'credentials of sources',
      remedy: 'or set the source again with its credentials',
    })
  }

  /**
   * The first run is due at once. Credentials that are left out stay those of the same publisher and host. Throws if the
   * name is another publisher's.
   */
  async set(source: NewSource, origin: Origin): Promise<SourceRecord> {
    const { database, clock } = this.#parts
    const { table, ownerId, every, settings } = source
    const parsed = asInput('/address', () => parseSourceAddress(source.address, source.headers))
    if (every !== null) asInput('/every', () => requireSchedule(every, clock()))
    requireFitting(parsed.kind, settings)
    const at = clock().toISOString()
    await database.db.transaction().execute(async (tx) => {
      // Read before the name is checked: a source that another publisher sets after this is not deleted, but found below.
      const stored = await readSource(tx, table)
      // Like an upload, which cannot keep secret that the name of a hidden dataset is taken.
      const nameOwner = await readNameOwner(tx, table)
      if (ownerId !== null && nameOwner !== undefined && nameOwner !== ownerId) throw nameTaken(table)
      const earlier = stored?.owner_id === ownerId ? stored : undefined
      if (!earlier) {
        // The owner of a dataset may replace a source that another publisher set before. Nothing is kept of it, nor of its
        // runs, which may quote its address and rows.
        if (stored) await deleteSource(tx, table)
        await deleteRuns(tx, table)
      }
      const isStored = await putSource(tx, {
        table_name: table,
        owner_id: ownerId,
        kind: parsed.kind,
        address: parsed.address,
        credentials: this.#credentialsFor(table, parsed, earlier),
        options: JSON.stringify(settings),
        schedule: every,
        next_run_at: every === null ? null : at,
        validators: null,
        failures: 0,
        created_by: origin.actor,
        created_at: at,
        updated_at: at,
      })
      if (!isStored) throw nameTaken(table)
      await recordEvent(tx, clock(), origin, {
        action: 'source.set',
        organizationId: ownerId,
        subject: `dataset:${table}`,
        detail: { address: parsed.address, every },
      })
    })
    return this.find(table)
  }

  async find(table: string): Promise<SourceRecord> {
    return this.#record(await this.require(table))
  }

  async list(ownerId: string | null = null): Promise<SourceRecord[]> {
    const rows = await listSources(this.#parts.database.db, ownerId)
    return Promise.all(rows.map((row) => this.#record(row)))
  }

  async runs(table: string, limit: number): Promise<SourceRunRecord[]> {
    await this.require(table)
    return readRuns(this.#parts.database.db, table, limit)
  }

  async remove(table: string, origin: Origin): Promise<void> {
    const { database, clock } = this.#parts
    await database.db.transaction().execute(async (tx) => {
      const source = await readSource(tx, table)
      if (!source || !(await deleteSource(tx, table))) throw noSource(table)
      await recordEvent(tx, clock(), origin, {
        action: 'source.removed',
        organizationId: source.owner_id,
        subject: `dataset:${table}`,
      })
    })
  }

  /** Has a worker run it now. Returns the job, which may have been waiting or running already. */
  async request(table: string, origin: Origin): Promise<JobRecord> {
    return this.#addJob(await this.require(table), origin, true)
  }

  /** Starts the sources that are due. */
  async sweep(): Promise<void> {
    const { database, clock } = this.#parts
    const now = clock()
    for (const source of await readDueSources(database.db, now.toISOString(), MAX_DUE)) {
      await this.#addJob(source, system, false)
      // The run itself sets the next time. This one holds if its worker dies again and again.
      const next = source.schedule === null ? plus(now, HOUR) : nextRun(source.schedule, now)
      await updateSource(database.db, source.table_name, { next_run_at: next.toISOString() })
    }
  }

  /** Undefined without a source; null if it is the operator's. */
  async ownerOf(table: string): Promise<string | null | undefined> {
    return (await readSource(this.#parts.database.db, table))?.owner_id
  }

  /** The row, for a run. */
  async require(table: string): Promise<SourceRow> {
    const source = await readSource(this.#parts.database.db, table)
    if (!source) throw noSource(table)
    return source
  }

  credentialsOf({ table_name: table, credentials }: SourceRow): SourceCredentials | null {
    return credentials === null
      ? null
      : (JSON.parse(this.#cipher.decrypt(credentials, nameOf(table))) as SourceCredentials)
  }

  #credentialsFor(table: string, parsed: SourceAddress, earlier: SourceRow | undefined): string | null {
    if (parsed.credentials === null) {
      const isSameHost = earlier !== undefined && hostOf(earlier.address) === hostOf(parsed.address)
      return isSameHost ? earlier.credentials : null
    }
    if (!this.#cipher.isOn)
      throw new Problem(
        'conflict',
        'Credentials are stored encrypted, which needs the setting WAYLEAVE_SECRET_KEY.',
      )
    return this.#cipher.encrypt(JSON.stringify(parsed.credentials), nameOf(table))
  }

  async #addJob(source: SourceRow, { actor }: Origin, isManual: boolean): Promise<JobRecord> {
    const { database, messages, clock, nodeId } = this.#parts
    const table = source.table_name
    const row = waitingJob({
      id: newId('job'),
      kind: 'publish',
      table_name: table,
      queue: queueOf('publish', table),
      single_key: `${SOURCE_JOB}${table}`,
      priority: isManual ? PRIORITIES.publish : PRIORITIES.scheduledSource,
      actor,
      owner_id: source.owner_id,
      node_id: nodeId,
      request: printSourceJob({ source: table, isManual }),
      at: clock().toISOString(),
    })
    const job = await insertOrJoinJob(database.db, row)
    await messages.sendWaiting().catch(() => {})
    return jobRecord(job)
  }

  async #record(row: SourceRow): Promise<SourceRecord> {
    const [lastRun] = await readRuns(this.#parts.database.db, row.table_name, 1)
    return {
      table: row.table_name,
      kind: row.kind as SourceKind,
      address: row.address,
      hasCredentials: row.credentials !== null,
      every: row.schedule,
      options: JSON.parse(row.options) as SourceSettings,
      nextRunAt: row.next_run_at,
      failures: row.failures,
      lastRun: lastRun ?? null,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }
  }
}

/** Encrypted credentials cannot be moved to another source. */
function nameOf(table: string): string {
  return `source ${table}`
}

function hostOf(address: string): string {
  const { protocol, host } = new URL(address)
  return `${protocol}//${host}`
}

function requireFitting(kind: SourceKind, { sourceTable, query }: SourceSettings): void {
  if (kind === 'postgres') {
    if ((sourceTable === undefined) === (query === undefined))
      throw invalidInput('/options', 'a database needs either sourceTable or query')
  } else if (sourceTable !== undefined || query !== undefined)
    throw invalidInput('/options', 'sourceTable and query belong to databases')
}

function asInput<T>(field: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof SourceError) throw invalidInput(field, error.message.replace(/\.$/, ''))
    throw error
  }
}

function nameTaken(table: string): Problem {
  return new Problem('permission-missing', `The name "${table}" is taken by another publisher.`)
}

function noSource(table: string): Problem {
  return notFound(`source of "${table}"`)
}
