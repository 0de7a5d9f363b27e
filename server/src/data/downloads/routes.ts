import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { EXPORT_FORMATS, type ExportFormat } from '@wayleave/contract/export-formats'
import { purchaseSchema } from '@wayleave/contract/records'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type Authenticate, authRequestOf } from '../../accounts/access/authenticate.ts'
import { type Grant, requirePermission } from '../../accounts/access/grant.ts'
import type { Cashier } from '../../accounts/credits/cashier.ts'
import { notFound } from '../../base/problem.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { noQuery } from '../../http/schemas.ts'
import { authenticateReader } from '../catalog/authenticate-reader.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import { changesSchema, downloadSchema } from './download-schema.ts'
import type { Downloads, Receiver } from './downloads.ts'
import { sendExport } from './send-export.ts'

interface DownloadDeps {
  authenticate: Authenticate
  catalog: Catalog
  cashier: Cashier
  downloads: Downloads
}

/** Downloads of whole datasets, and what was paid for them. `Downloads` has the rules. */
export function downloadRoutes(app: App, { authenticate, catalog, cashier, downloads }: DownloadDeps): void {
  /** Authenticates before the query is validated: a client without a key gets that error first. */
  const grants = new WeakMap<FastifyRequest, Grant>()
  const withKey = async (request: FastifyRequest, reply: FastifyReply) => {
    grants.set(request, await authenticate.key(request, reply))
  }
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { table } = request.params as { table: string }
    const reader = authenticateReader(authRequestOf(request, reply), table, { authenticate, catalog })
    grants.set(request, await reader)
  }
  const find = async (request: FastifyRequest, table: string) => catalog.findFor(grants.get(request)!, table)
  const deliver = async (
    request: FastifyRequest,
    reply: FastifyReply,
    wanted: { dataset: Dataset; archived: Version | null; since?: Version; format: string },
  ) => {
    const grant = grants.get(request)!
    await downloads.deliver({ ...wanted, grant, http: request, requestId: request.id }, receiverOf(reply))
    return reply
  }

  app.get('/v1/dataset/:table/files/:format', {
    onRequest,
    schema: downloadSchema(
      'Download a dataset',
      'Needs API_ACCESS and costs the dataset’s price in credits. An open dataset needs no key and costs nothing.',
      { table: Type.String(), format: Type.String() },
    ),
    handler: async (request, reply) => {
      const { table, format } = request.params as { table: string; format: string }
      return deliver(request, reply, { dataset: await find(request, table), archived: null, format })
    },
  })

  // The same under the file's name, for programs such as GDAL that recognise a format by the extension.
  app.get('/v1/dataset/:table/files/:format/:file', {
    onRequest,
    schema: downloadSchema(
      'Download a dataset under its file name',
      'The same as without the file name, which is the one in `Content-Disposition`.',
      { table: Type.String(), format: Type.String(), file: Type.String() },
    ),
    handler: async (request, reply) => {
      const { table, format, file } = request.params as { table: string; format: string; file: string }
      const dataset = await find(request, table)
      requireFileName(dataset, format, file)
      return deliver(request, reply, { dataset, archived: null, format })
    },
  })

  app.get('/v1/dataset/:table/archives/:version/files/:format', {
    onRequest,
    schema: downloadSchema(
      'Download a version of a dataset',
      'Needs ARCHIVED_DATA, and costs like a download.',
      { table: Type.String(), version: Type.String(), format: Type.String() },
    ),
    handler: async (request, reply) => {
      const { table, version, format } = request.params as { table: string; version: string; format: string }
      const dataset = await find(request, table)
      const archived = await catalog.version(table, version)
      return deliver(request, reply, { dataset, archived, format })
    },
  })

  app.get('/v1/dataset/:table/changes', {
    onRequest,
    schema: changesSchema,
    handler: async (request, reply) => {
      const { table } = request.params
      const { from, to, f: format } = request.query
      const dataset = await find(request, table)
      const since = await catalog.version(table, String(from))
      const archived = to === undefined ? null : await catalog.version(table, String(to))
      return deliver(request, reply, { dataset, archived, since, format })
    },
  })

  app.get('/v1/dataset/:table/purchases', {
    onRequest: withKey,
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
      const dataset = await find(request, request.params.table)
      requirePermission(grant, 'read', dataset.table)
      return { data: await cashier.purchasesOf(grant, dataset.table) }
    },
  })
}

function requireFileName({ table }: Dataset, format: string, file: string): void {
  const extension = EXPORT_FORMATS[format as ExportFormat]?.extension
  if (extension !== undefined && file !== `${table}.${extension}`) {
    throw notFound(`file named "${file.slice(0, 80)}"`)
  }
}

function receiverOf(reply: FastifyReply): Receiver {
  return {
    respond({ status, headers }) {
      reply.code(status).headers(headers)
      // With no payload at all, Fastify would set `Content-Length: 0` in the response to HEAD.
      reply.send(status === 200 ? Readable.from([]) : undefined)
    },
    send(opened, { status, headers, range }) {
      reply.code(status).headers(headers)
      // Bypasses Fastify's own sending, which cannot reuse buffers; its hooks still see the end of the response.
      reply.hijack()
      reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
      return sendExport(opened, range, reply.raw)
    },
  }
}
