import { type Call, startCall } from './call.ts'
import { checkOptions, checkTable } from './check-arguments.ts'
import type { Column } from './contract.ts'
import { PublishError, type RowProblem } from './errors.ts'
import { withNameHints } from './name-hints.ts'
import {
  INSPECT_PARAMETERS,
  type InspectOptions,
  PUBLISH_PARAMETERS,
  type PublishOptions,
  type PublishProgress,
  UPLOAD_OPTIONS,
  uploadQuery,
} from './publish-options.ts'
import type { Receipt } from './response-info.ts'
import { CALL_OPTIONS, type CallOptions, requestJson, type Sending, type Transport } from './transport.ts'

const FIRST_POLL_MS = 200
const LONGEST_POLL_MS = 3000

/** A file: a `File` of a form, a `Blob` (in Node: `openAsBlob(path)`), or its bytes. */
export type PublishedFile = Blob | ArrayBuffer | Uint8Array

/** A publishing or an inspection. What it reports has more members than are listed here. */
export interface Job {
  id: string
  table: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  progress: PublishProgress | null
  report: {
    /** Null after a dry run. */
    version: number | null
    rows: number
    skipped: number
    problems: RowProblem[]
    columns: Column[]
    notes: string[]
    isDraft?: boolean
  } | null
  problem: { detail: string; problems?: RowProblem[]; problemCount?: number } | null
  createdAt: string
  updatedAt: string
}

/** A job that has published a file, or tried to. */
export type PublishedJob = Job & { report: NonNullable<Job['report']> }

/** What a file contains, and what publishing it would do. It has more members than are listed here. */
export interface Inspection {
  rows: number
  problemCount: number
  problems: RowProblem[]
  geometryType: string | null
  bbox: [number, number, number, number] | null
  columns: (Column & { source: string; empty: number; isHidden: boolean })[]
  preview: { row: number; values: (string | null)[]; geometry: string | null }[]
  /** What does not fit the schema of the dataset. */
  misfits: string[]
  /** What would be renamed, dropped or changed. */
  notes: string[]
}

/** Where a dataset is refreshed from. It has more members than are listed here. */
export interface DatasetSource {
  address: string
  every: string | null
  options: Record<string, unknown>
}

export interface SourceOptions extends CallOptions {
  /** An interval such as `6h`, or a cron expression, in UTC or in the zone of `CRON_TZ=`; without it, only by `runSource`. */
  every?: string | undefined
  /** Headers to send to the address, such as a key. */
  headers?: Record<string, string> | undefined
  /** How it is read, such as `{ idColumn: 'code' }`. */
  reading?: Record<string, unknown> | undefined
}

/** Publishes files, releases drafts, rolls back, and sets schemas and sources. Needs a key with `write`. */
export class Publisher {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Uploads a file, and waits until it is published as a new version, or as a draft. */
  publish(table: string, file: PublishedFile, options: PublishOptions = {}): Call<PublishedJob> {
    return startCall(async (receipt) => {
      checkTable('publish()', table)
      checkOptions('publish()', options, [...PUBLISH_PARAMETERS, ...UPLOAD_OPTIONS])
      const path = `/v1/dataset/${encodeURIComponent(table)}`
      const sent = { method: 'PUT' as const, path, file }
      return this.#upload<PublishedJob>(sent, options, PUBLISH_PARAMETERS, receipt)
    })
  }

  /** What a file contains, and what publishing it with these options would do. Nothing is published. */
  inspect(file: PublishedFile, options: InspectOptions = {}): Call<Inspection> {
    return startCall(async (receipt) => {
      checkOptions('inspect()', options, [...INSPECT_PARAMETERS, ...UPLOAD_OPTIONS])
      const sent = { method: 'POST' as const, path: '/v1/inspect', file }
      type InspectedJob = Job & { inspection: Inspection }
      return (await this.#upload<InspectedJob>(sent, options, INSPECT_PARAMETERS, receipt)).inspection
    })
  }

  /** The progress of a job, such as that of `runSource`. */
  job(id: string, options: CallOptions = {}): Call<Job> {
    return startCall((receipt) => this.#job('job()', id, undefined, options, receipt))
  }

  /** Cancels a job that is waiting or running. */
  cancelJob(id: string, options: CallOptions = {}): Call<Job> {
    const sending: Sending = { method: 'DELETE', isRepeatable: true }
    return startCall((receipt) => this.#job('cancelJob()', id, sending, options, receipt))
  }

  /** What is fixed about the columns of a dataset. */
  schema(table: string, options: CallOptions = {}): Call<{ isFixed: boolean; columns: object[] }> {
    return this.#call('schema()', table, 'schema', undefined, options)
  }

  /** Fixes the columns of a dataset, for its next version. */
  setSchema(table: string, schema: object, options: CallOptions = {}): Call<void> {
    return this.#call('setSchema()', table, 'schema', json('PUT', schema), options)
  }

  /** Makes the draft of a dataset its current version. Returns its number. */
  release(table: string, options: CallOptions = {}): Call<number> {
    return this.#call('release()', table, 'release', json('POST', {}), options, versionOf)
  }

  /** Makes a new version with the data of an earlier one. Returns its number. */
  rollBack(table: string, version: number, options: CallOptions = {}): Call<number> {
    return this.#call('rollBack()', table, 'rollback', json('POST', { version }), options, versionOf)
  }

  /** The address that a dataset is refreshed from, when it is due, and its last run. */
  source(table: string, options: CallOptions = {}): Call<DatasetSource> {
    return this.#call('source()', table, 'source', undefined, options)
  }

  /** Refreshes a dataset from an address, at once and then as `every` says. */
  setSource(table: string, address: string, options: SourceOptions = {}): Call<DatasetSource> {
    const { every, headers, reading, ...rest } = options
    const body = { address, every, headers, options: reading }
    return this.#call('setSource()', table, 'source', json('PUT', body), rest)
  }

  /** Refreshes a dataset from its source now. Returns the id of the job, for `job`. */
  runSource(table: string, options: CallOptions = {}): Call<string> {
    return this.#call('runSource()', table, 'source/run', { method: 'POST' }, options, ({ id }: Job) => id)
  }

  /** Refreshes a dataset no more. The dataset stays. */
  removeSource(table: string, options: CallOptions = {}): Call<void> {
    return this.#call('removeSource()', table, 'source', { method: 'DELETE' }, options)
  }

  #call<T, R = T>(
    call: string,
    table: string,
    what: string,
    sending: Sending | undefined,
    options: CallOptions,
    resultOf: (response: T) => R = (response) => response as unknown as R,
  ): Call<R> {
    return startCall(async (receipt) => {
      checkTable(call, table)
      checkOptions(call, options, CALL_OPTIONS)
      const path = `/v1/dataset/${encodeURIComponent(table)}/${what}`
      return withNameHints(this.#transport, { table }, options, async () =>
        resultOf(await requestJson<T>(this.#transport, path, options, receipt, sending)),
      )
    })
  }

  async #job(
    call: string,
    id: string,
    sending: Sending | undefined,
    options: CallOptions,
    receipt: Receipt,
  ): Promise<Job> {
    checkOptions(call, options, CALL_OPTIONS)
    return requestJson(this.#transport, `/v1/jobs/${encodeURIComponent(id)}`, options, receipt, sending)
  }

  /** Sends the file and waits for its job. */
  async #upload<J extends Job>(
    { method, path, file }: { method: 'PUT' | 'POST'; path: string; file: PublishedFile },
    options: PublishOptions | InspectOptions,
    parameters: readonly string[],
    receipt: Receipt,
  ): Promise<J> {
    const body = blobOf(file)
    const query = uploadQuery(options, parameters, (file as Partial<File>).name)
    const { signal, maxRetries, timeout, onProgress } = options
    // Nothing arrives before the whole file is sent, so only the caller knows how long that may take.
    const sending = { signal, maxRetries, timeout: timeout ?? 0 }
    const upload: Sending = { method, body, type: 'application/octet-stream' }
    let job = await requestJson<Job>(this.#transport, path + query, sending, receipt, upload)
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, LONGEST_POLL_MS)) {
      if (job.progress) onProgress?.(job.progress)
      if (job.state !== 'waiting' && job.state !== 'running') return finished(job) as J
      await this.#transport.sleep(pause, signal)
      job = await this.#job(method, job.id, undefined, { signal, maxRetries, timeout }, receipt)
    }
  }
}

function json(method: 'PUT' | 'POST', body: object): Sending {
  return { method, body: JSON.stringify(body), type: 'application/json', isRepeatable: method === 'PUT' }
}

function versionOf({ version }: { version: number }): number {
  return version
}

function blobOf(file: PublishedFile): Blob {
  if (file instanceof Blob) return file
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) return new Blob([file as ArrayBuffer])
  throw new TypeError(
    'A file is a Blob or its bytes. In Node, `await openAsBlob(path)` of node:fs makes a Blob of a path.',
  )
}

function finished(job: Job): Job {
  if (job.state === 'done') return job
  if (job.state === 'cancelled') throw new PublishError('The job was cancelled.')
  const { detail, problems, problemCount } = job.problem ?? { detail: 'The file could not be published.' }
  throw new PublishError(detail, problems, problemCount)
}
