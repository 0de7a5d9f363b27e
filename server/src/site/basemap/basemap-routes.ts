import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { WORLD_FILES, type WorldFile, worldBackground } from '@wayleave/contract/map-style'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { notFound } from '../../base/problem.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag, preferredEncoding } from '../../http/headers.ts'
import { tags } from '../../http/openapi.ts'
import { WorldFiles } from './world-files.ts'

interface BasemapRoutesDeps {
  authenticate: Authenticate
  baseUrl: BaseUrl
  worldFiles?: WorldFiles
}

const DAY = 'public, max-age=86400'
const STORED = ['gzip'] as const
const theme = Type.Optional(
  Type.Union([Type.Literal('light'), Type.Literal('dark')], {
    description: 'The colors; `light` without it.',
  }),
)
const documented = (description: string) => ({
  responses: {
    200: { description, content: { 'application/json': { schema: { type: 'object' } } } },
    304: { description: 'Not modified.' },
  },
})

/** Where the files of the service's background of maps are. */
export function worldUrl(base: string, file: WorldFile): string {
  return `${base}/v1/basemap/${file}.json`
}

/** The service's own background of maps, for web pages of others: public, and without a map server. */
export function basemapRoutes(app: App, deps: BasemapRoutesDeps): void {
  const { authenticate, baseUrl, worldFiles = new WorldFiles() } = deps

  app.get('/v1/basemap/style', {
    schema: {
      tags: [tags.catalog],
      summary: 'The background of maps, as a MapLibre style',
      description: 'Land, borders, and the names of countries and cities, from Natural Earth and GeoNames.',
      documented: documented('The style.'),
      problems: ['not-found', 'key-invalid', 'origin-not-allowed', 'address-not-allowed'],
      querystring: Type.Object({ theme }, { additionalProperties: false }),
    },
    handler: async (request, reply) => {
      await authenticate.optionalKey(request, reply)
      if ((await worldFiles.nameOf('coarse')) === null) throw notFound('background of maps')
      const base = baseUrl.of(request)
      const { sources, layers, names } = worldBackground(request.query.theme ?? 'light', 'cities', (file) =>
        worldUrl(base, file),
      )
      const style = { version: 8, name: 'Background', sources, layers: [...layers, ...names] }
      return reply.header('cache-control', DAY).type('application/json').send(JSON.stringify(style))
    },
  })

  app.get('/v1/basemap/:file', {
    schema: {
      tags: [tags.catalog],
      summary: 'A part of the background of maps, as GeoJSON',
      description: `One of ${WORLD_FILES.map((file) => `\`${file}.json\``).join(', ')}, as the style names them.`,
      documented: documented('A FeatureCollection.'),
      problems: ['not-found', 'key-invalid', 'origin-not-allowed', 'address-not-allowed'],
      params: Type.Object({ file: Type.String() }),
      querystring: Type.Object({}, { additionalProperties: false }),
    },
    handler: async (request, reply) => {
      await authenticate.optionalKey(request, reply)
      const file = WORLD_FILES.find((one) => request.params.file === `${one}.json`)
      const packed = file ? await worldFiles.packed(file) : null
      if (!packed) throw notFound('part of the background of maps')
      // The name of the file has the hash of its content.
      const etag = `"${await worldFiles.nameOf(file!)}"`
      reply.header('cache-control', DAY).header('etag', etag).header('vary', 'Accept-Encoding')
      if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
      reply.type('application/json')
      if (preferredEncoding(request.headers['accept-encoding'], STORED) !== 'gzip')
        return reply.send(await promisify(gunzip)(packed))
      return reply.header('content-encoding', 'gzip').send(packed)
    },
  })
}
