import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { AddOn } from '@wayleave/contract/add-ons'
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, type ExportFormat } from '@wayleave/contract/export-formats'
import { purchaseSchema } from '@wayleave/contract/records'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { type Grant, requireAddOn, requirePermission } from '../../accounts/access/grant.ts'
import type { Cashier, Charge } from '../../accounts/credits/cashier.ts'
import { notFound, Problem, type ProblemCode } from '../../base/problem.ts'
import type { Config } from '../../base/settings/config.ts'
import type { App } from '../../http/fastify-app.ts'
import { isUnmodified, preferredEncoding } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { noQuery } from '../../http/schemas.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import type { SnapshotHealth } from '../catalog/snapshot-health.ts'
import { VersionRemoved } from '../catalog/version-removed.ts'
import {
  chargeHeaders,
  descriptionHeaders,
  type FreeResponse,
  fileHeaders,
  freeResponse,
  headerText,
  isScript,
  rangeOf,
} from './download-headers.ts'
import { describeExport, type ExportFile, type ExportRequest, fileNameOf } from './exports/export-file.ts'
import type { Exports } from './exports/exports.ts'
import { type OpenExport, openExport, sendExport } from './send-export.ts'

interface DownloadDeps {
  authenticate: Authenticate
  catalog: Catalog
  cashier: Cashier
  exports: Exports
  health: SnapshotHealth
  log: Logger
  config: Pick<Config, 'downloads' | 'downloadLinkSeconds'>
}

/** A file in the bucket, and the signed address of its bytes. */
interface SignedFile {
  etag: string
  address: string
}

/**
 * In order of preference if the client accepts both equally: the smaller one that decompresses faster comes
 * first.
 */
const STORED = ['zstd', 'gzip'] as const

const DOWNLOAD_PROBLEMS: readonly ProblemCode[] = [
  'credits-exhausted',
  'add-on-missing',
  'export-impossible',
  'range-not-satisfiable',
  'build-failed',
  'export-not-ready',
  'data-damaged',
  'tiles-not-ready',
  'tiles-failed',
]

const file = {
  headers: {
    ETag: { description: 'Names these bytes.', schema: { type: 'string' } },
    'Credits-Charged': { description: 'What this download cost.', schema: { type: 'integer' } },
    'Credits-Remaining': { description: 'What the organization has left.', schema: { type: 'integer' } },
  },
  content: Object.fromEntries(
    Object.values(EXPORT_FORMATS).map(({ mediaType }) => [
      mediaType,
      // JSON is described as what it contains, all other formats as bytes.
      { schema: mediaType.includes('json') ? {} : { type: 'string', format: 'binary' } },
    ]),
  ),
}
const DOWNLOAD_RESPONSES = {
  200: { description: 'The whole file.', ...file },
  206: { description: 'The bytes that `Range` asks for.', ...file },
  304: { description: 'The client’s copy is current.' },
  307: {
    description:
      'The file is at the signed address in `Location`, for some minutes. Only if the operator has chosen redirects; do not send the API key there.',
    headers: {
      Location: { description: 'The signed address.', schema: { type: 'string', format: 'uri' } },
      'Credits-Charged': file.headers['Credits-Charged'],
      'Credits-Remaining': file.headers['Credits-Remaining'],
    },
  },
}

/**
 * The download routes: check the permission and the add-on, charge, build the export if it does not exist
 * yet, and send it.
 */
export function downloadRoutes(
  app: App,
  { authenticate, catalog, cashier, exports, health, log, config }: DownloadDeps,
): void {
  const schema = (
    summary: string,
    description: string,
    params: Record<string, ReturnType<typeof Type.String>>,
  ) => ({
    tags: [tags.data],
    summary,
    description: `${description} A key pays once for one format of one version within 24 hours: further ranges and retries are free. HEAD, 304 and 416 cost nothing. No file is built for a key that cannot pay; until it exists, HEAD has no \`Content-Length\` and no \`ETag\`. Formats: ${EXPORT_FORMAT_NAMES.join(', ')}.`,
    security: security.key,
    problems: DOWNLOAD_PROBLEMS,
    documented: { responses: DOWNLOAD_RESPONSES },
    params: Type.Object(params),
    querystring: noQuery,
  })

  /** Authenticates before the query is validated: a client without a key gets that error first. */
  const grants = new WeakMap<FastifyRequest, Grant>()
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    grants.set(request, await authenticate.key(request, reply))
  }

  app.get('/v1/dataset/:table/files/:format', {
    onRequest,
    schema: schema('Download a dataset', 'Needs API_ACCESS and costs the dataset’s price in credits.', {
      table: Type.String(),
      format: Type.String(),
    }),
    handler: async (request, reply) => {
      const { table, format } = request.params as { table: string; format: string }
      const dataset = await catalog.find(table)
      return downloadCurrent(request, reply, dataset, format)
    },
  })

  // The same under the file's name, for programs such as GDAL that recognise a format by the extension.
  app.get('/v1/dataset/:table/files/:format/:file', {
    onRequest,
    schema: schema(
      'Download a dataset under its file name',
      'The same as without the file name, which is the one in `Content-Disposition`.',
      { table: Type.String(), format: Type.String(), file: Type.String() },
    ),
    handler: async (request, reply) => {
      const { table, format, file } = request.params as { table: string; format: string; file: string }
      const dataset = await catalog.find(table)
      const extension = EXPORT_FORMATS[format as ExportFormat]?.extension
      if (extension !== undefined && file !== `${dataset.table}.${extension}`) {
        throw notFound(`file named "${file.slice(0, 80)}"`)
      }
      return downloadCurrent(request, reply, dataset, format)
    },
  })

  app.get('/v1/dataset/:table/archives/:version/files/:format', {
    onRequest,
    schema: schema('Download a version of a dataset', 'Needs ARCHIVED_DATA, and costs like a download.', {
      table: Type.String(),
      version: Type.String(),
      format: Type.String(),
    }),
    handler: async (request, reply) => {
      const { table, version, format } = request.params as { table: string; version: string; format: string }
      const dataset = await catalog.find(table)
      const archived = await catalog.version(table, version)
      return download(request, reply, {
        grant: grants.get(request)!,
        dataset,
        version: archived,
        format,
        addOn: 'ARCHIVED_DATA',
        operation: 'archive',
      })
    },
  })

  app.get('/v1/dataset/:table/purchases', {
    onRequest,
    schema: {
      tags: [tags.data],
      summary: 'The downloads of a dataset that are already paid',
      description: 'What the key may download again without paying, for 24 hours after it was paid.',
      security: security.key,
      params: Type.Object({ table: Type.String() }),
      querystring: noQuery,
      response: { 200: Type.Object({ data: Type.Array(purchaseSchema) }) },
    },
    handler: async (request) => {
      const grant = grants.get(request)!
      const dataset = await catalog.find(request.params.table)
      requirePermission(grant, 'read', dataset.table)
      return { data: await cashier.purchasesOf(grant, dataset.table) }
    },
  })

  interface Download {
    grant: Grant
    dataset: Dataset
    version: Version
    format: string
    addOn: AddOn
    operation: string
  }

  /** If the version is removed while its file is built, what was charged is refunded before it is repeated. */
  function downloadCurrent(request: FastifyRequest, reply: FastifyReply, dataset: Dataset, format: string) {
    const grant = grants.get(request)!
    const start = (current: Dataset) =>
      download(request, reply, {
        grant,
        dataset: current,
        version: current,
        format,
        addOn: 'API_ACCESS',
        operation: 'download',
      })
    return catalog.withCurrent(dataset, start).catch((error: unknown) => {
      if (!(error instanceof VersionRemoved)) throw error
      // Not 404, which would say that the dataset is gone.
      const detail = `"${dataset.table}" was replaced twice while its file was built. Ask again later.`
      throw new Problem('export-not-ready', detail, { headers: { 'retry-after': '15' }, cause: error })
    })
  }

  async function download(request: FastifyRequest, reply: FastifyReply, requested: Download) {
    const { grant, dataset, version, addOn, operation } = requested
    const format = exportFormatsOf(version.manifest).find((entry) => entry.format === requested.format)
    if (!format) throw notFound(`format named "${requested.format.slice(0, 40)}" for this dataset`)
    requirePermission(grant, 'read', dataset.table)
    requireAddOn(grant, addOn)
    // A damaged version is refused before anything is charged.
    await health.require(version)
    const compressible = !format.isCompressed
    const exportRequest: ExportRequest = {
      dataset,
      version,
      format,
      encoding: compressible ? preferredEncoding(request.headers['accept-encoding'], STORED) : 'identity',
      isArchive: operation === 'archive',
      requestId: request.id,
    }
    if (compressible) reply.header('vary', 'Accept-Encoding')

    // Free responses are sent before anything is charged; they need the file for its tag and size.
    const { headers } = request
    const conditional =
      headers['if-none-match'] !== undefined || headers.range !== undefined || request.method === 'HEAD'
    const orRemoval = async (error: unknown) => {
      throw await health.removalOr(version, error)
    }
    const filename = fileNameOf(exportRequest)
    const peekedFile = exports.peek(exportRequest)
    const described = describeExport(exportRequest)
    if (isUnmodified(headers, described.lastModified)) {
      const current = peekedFile ? fileHeaders(peekedFile, filename) : descriptionHeaders(described, filename)
      return sendFree(reply, { status: 304, headers: current })
    }
    let readyFile =
      peekedFile ?? (conditional ? await exports.find(exportRequest).catch(orRemoval) : undefined)
    const call = { operation, table: dataset.table, format: format.format }
    const bill = { grant, call, version: version.version, price: dataset.credits }
    if (!readyFile && conditional) {
      // A conditional request may turn out to be free (304, 416, HEAD), so it cannot be charged before the file
      // exists. Building is expensive, so build only if the caller could pay. Charging first and refunding is not
      // an option: until the refund, another request with the same key would get the file for free, because a
      // purchase may be downloaded again.
      const refusal = await cashier.refusalOf(bill)
      if (refusal && request.method !== 'HEAD') throw refusal
      // Headers that only the finished file determines are omitted.
      if (refusal) return sendFree(reply, { status: 200, headers: descriptionHeaders(described, filename) })
      readyFile = await exports.get(exportRequest).catch(orRemoval)
    }
    const free = readyFile && freeResponse(request, readyFile, filename)
    if (free) return sendFree(reply, free)

    // Watched from before the charge: a shutdown in between would leave the charge without a delivery or a
    // refund.
    return cashier.watch(
      cashier.charge(bill).then((charge) => deliver(request, reply, exportRequest, readyFile, charge)),
    )
  }

  async function deliver(
    request: FastifyRequest,
    reply: FastifyReply,
    exportRequest: ExportRequest,
    readyFile: ExportFile | undefined,
    charge: Charge,
  ) {
    try {
      const file = readyFile ?? (await exports.get(exportRequest))
      const stored = await storedFor(request, exportRequest, file)
      if (stored) return redirect(reply, stored, charge)
      return send(request, reply, exportRequest, await openWanted(exportRequest, file), charge)
    } catch (error) {
      exports.forget(exportRequest)
      const problem = await health.removalOr(exportRequest.version, error)
      await charge.refund()
      throw problem
    }
  }

  /**
   * The file in the bucket to which the client is redirected; null if the service sends the file. The store has
   * other tags and times for its objects, so a client that resumes by ours gets the rest from here.
   */
  async function storedFor(
    request: FastifyRequest,
    exportRequest: ExportRequest,
    file: ExportFile,
  ): Promise<SignedFile | null> {
    const condition = headerText(request.headers['if-range'])
    const isOurs = condition !== undefined && (condition === file.etag || !/^(W\/)?"/.test(condition))
    if (config.downloads !== 'redirect' || isOurs || isScript(request.headers)) return null
    return signed(exportRequest).catch(async (error: unknown) => {
      if (!(await exports.forgetDamaged(exportRequest, error))) throw error
      return signed(exportRequest)
    })
  }

  async function signed(exportRequest: ExportRequest): Promise<SignedFile | null> {
    const { mediaType, encoding, etag, signedAddress } = await exports.getStored(exportRequest)
    const address = await signedAddress({
      lifetime: config.downloadLinkSeconds,
      mediaType,
      filename: fileNameOf(exportRequest),
      encoding: encoding === 'identity' ? null : encoding,
    })
    return address === null ? null : { etag, address }
  }

  function redirect(reply: FastifyReply, { etag, address }: SignedFile, charge: Charge) {
    reply.headers(chargeHeaders(charge))
    return reply.header('etag', etag).header('cache-control', 'private, no-store').redirect(address, 307)
  }

  /**
   * A file that changed or vanished since it was verified is looked up, and if necessary built, once more.
   */
  async function openWanted(exportRequest: ExportRequest, file: ExportFile): Promise<OpenExport> {
    const opened = await openExport(file).catch(async (error: unknown) => {
      if (!(await exports.forgetDamaged(exportRequest, error))) throw error
      return null
    })
    if (opened) return opened
    exports.forget(exportRequest)
    const again = await openExport(await exports.get(exportRequest))
    if (!again) throw new Error('an export changes while it is opened')
    return again
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    exportRequest: ExportRequest,
    opened: OpenExport,
    charge: Charge,
  ) {
    const { file } = opened
    const range = rangeOf(request, file)
    const bytes = range === null || range === 'unsatisfiable' ? { start: 0, end: file.bytes } : range
    reply.headers(chargeHeaders(charge))
    reply.headers(fileHeaders(file, fileNameOf(exportRequest)))
    if (bytes.end - bytes.start < file.bytes) {
      reply.code(206).header('content-range', `bytes ${bytes.start}-${bytes.end - 1}/${file.bytes}`)
    }
    reply.header('content-length', String(bytes.end - bytes.start))
    // Bypasses Fastify's own sending, which cannot reuse buffers; its hooks still see the end of the
    // response.
    reply.hijack()
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
    const sent = sendExport(opened, bytes, reply.raw).catch(async (error: unknown) => {
      // The response has begun and can only be aborted; the client sees that it is short and is refunded.
      log.error({ err: error, requestId: request.id }, 'A download broke off.')
      await health.problemOf(exportRequest.version, error)
      await exports
        .forgetDamaged(exportRequest, error)
        .catch((failure: unknown) => log.error({ err: failure }, 'A damaged export could not be removed.'))
      await charge.refund().catch((failure: unknown) => log.error({ err: failure }, 'A refund failed.'))
    })
    cashier.watch(sent)
    return reply
  }
}

/** Sends a response without a body. With no payload at all, Fastify would set `Content-Length: 0`. */
function sendFree(reply: FastifyReply, { status, headers }: FreeResponse): FastifyReply {
  reply.code(status).headers(headers)
  return status === 304 ? reply.send() : reply.send(Readable.from([]))
}
