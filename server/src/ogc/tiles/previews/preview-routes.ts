import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Authenticate } from '../../../accounts/access/authenticate.ts'
import { notFound } from '../../../base/problem.ts'
import type { Catalog } from '../../../data/catalog/catalog.ts'
import { metadataCacheControl } from '../../../data/catalog/metadata.ts'
import type { OpenSnapshots } from '../../../data/catalog/open-snapshots.ts'
import type { App } from '../../../http/fastify-app.ts'
import { matchesEtag, preferredEncoding } from '../../../http/headers.ts'
import { tags } from '../../../http/openapi.ts'
import { noQuery } from '../../../http/schemas.ts'
import type { TileArchives } from '../tile-archives.ts'
import type { TileStates } from '../tile-states.ts'
import { previewSvg } from './preview-svg.ts'
import { Previews } from './previews.ts'

interface PreviewRoutesDeps {
  authenticate: Authenticate
  catalog: Catalog
  snapshots: OpenSnapshots
  tileArchives: TileArchives
  tileStates: TileStates
}

const params = Type.Object({ table: Type.String() })
const noPreview = Type.Unsafe<undefined>({ description: 'The dataset has no preview, or not yet.' })
const notModified = Type.Unsafe<undefined>({ description: 'Not modified.' })
const previewSchema = Type.Object({
  bbox: Type.Unsafe<[number, number, number, number]>({ type: 'array', items: { type: 'number' } }),
  points: Type.String({ description: 'The path of all points, in degrees, with the latitude negated.' }),
  lines: Type.String({ description: 'The path of lines, and of the borders of `cutAreas`.' }),
  areas: Type.String(),
  cutAreas: Type.String({
    description: 'The path of parts of areas that lie in several tiles: to be filled, without borders.',
  }),
})

const STORED = ['gzip'] as const

/** Previews with gzip, each compressed once while it is in memory: outlines of countries are 50 KB without. */
class PackedPreviews {
  readonly #packed = new WeakMap<object, Promise<Buffer>>()

  of(preview: object): Promise<Buffer> {
    let bytes = this.#packed.get(preview)
    if (bytes === undefined) {
      bytes = promisify(gzip)(JSON.stringify(preview))
      this.#packed.set(preview, bytes)
    }
    return bytes
  }
}

/** Small maps of datasets. They are public, like the sample. */
export function previewRoutes(app: App, deps: PreviewRoutesDeps): void {
  const { authenticate, catalog } = deps
  const previews = new Previews(deps)
  const packed = new PackedPreviews()
  const find = async (request: FastifyRequest, reply: FastifyReply, table: string) => {
    const grant = await authenticate.optionalKey(request, reply)
    const dataset = await catalog.findFor(grant, table)
    const drawn = await previews.of(dataset)
    return {
      preview: drawn?.preview ?? null,
      etag: `"${drawn?.tag}-preview-3"`,
      cacheControl: metadataCacheControl(dataset),
    }
  }

  app.get('/v1/dataset/:table/preview', {
    schema: {
      tags: [tags.catalog],
      summary: 'A small map of a dataset, as SVG paths',
      description:
        'Drawn from its tiles, or from its points if there are no tiles; 204 for a table, and for shapes until the tiles are built.',
      params,
      querystring: noQuery,
      response: { 200: previewSchema, 204: noPreview, 304: notModified },
    },
    handler: async (request, reply) => {
      const { preview, etag, cacheControl } = await find(request, reply, request.params.table)
      // Not 404: browsers would log an error for every dataset without tiles.
      if (preview === null) return reply.code(204).header('cache-control', 'no-store').send(undefined)
      reply.header('etag', etag).header('cache-control', cacheControl)
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      reply.header('vary', 'Accept-Encoding')
      if (preferredEncoding(request.headers['accept-encoding'], STORED) !== 'gzip') return preview
      const bytes = await packed.of(preview)
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('content-encoding', 'gzip')
        .send(bytes as never)
    },
  })

  app.get('/v1/dataset/:table/thumbnail.svg', {
    schema: {
      tags: [tags.catalog],
      summary: 'A small map of a dataset, as a picture',
      description:
        'Drawn from its tiles, or from its points if there are no tiles; 404 for a table, and for shapes until the tiles are built.',
      documented: {
        responses: {
          200: { description: 'The picture.', content: { 'image/svg+xml': { schema: { type: 'string' } } } },
          304: { description: 'Not modified.' },
        },
      },
      params,
      querystring: noQuery,
    },
    handler: async (request, reply) => {
      const { table } = request.params
      const { preview, etag, cacheControl } = await find(request, reply, table)
      if (preview === null) throw notFound(`preview of the dataset "${table}"`)
      reply.header('etag', etag).header('cache-control', cacheControl)
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      return reply.type('image/svg+xml').send(previewSvg(preview))
    },
  })
}
