import { readFileSync } from 'node:fs'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { authRequestOf } from '../accounts/access/authenticate.ts'
import type { App } from '../http/fastify-app.ts'
import { aggregateRoutes } from './aggregate/aggregate-routes.ts'
import { featureSchema } from './documents/feature-schema.ts'
import { type ExtractDeps, extractRoutes } from './extract/extract-routes.ts'
import { facetRoutes } from './facets/facet-routes.ts'
import { admit, tableOf } from './items/admit.ts'
import { searchRoutes } from './items/search-routes.ts'
import { FEATURE_SCHEMA_ENCODINGS, negotiate } from './request/encodings.ts'
import { parameterOf, readQuery, refuseUnknown } from './request/query-string.ts'
import { integerSizesOf } from './write/integer-sizes-of.ts'
import { ROOT } from './write/links.ts'
import { sendDocument } from './write/respond.ts'

export type OgcDeps = ExtractDeps

/** What the HTML pages load. */
const PAGE_FILES = [
  ['style.css', 'text/css; charset=utf-8'],
  ['land.svg', 'image/svg+xml'],
] as const

/** The routes of OGC API - Features that only Fastify serves. The others are data routes: see app.ts. */
export function ogcRoutes(app: App, parts: OgcDeps): void {
  const { authenticate, baseUrl, meter } = parts
  const parameters = ['f']

  for (const [name, type] of PAGE_FILES) {
    const bytes = readFileSync(new URL(`./html/${name}`, import.meta.url))
    app.get(`${ROOT}/${name}`, async (request, reply) => {
      await authenticate.optionalKey(request, reply)
      refuseUnknown(readQuery(request.url), parameters)
      return reply.header('cache-control', 'public, max-age=3600').type(type).send(bytes)
    })
  }

  app.get(`${ROOT}/collections/:table/feature-schema`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), parts)
    const pairs = readQuery(request.url)
    refuseUnknown(pairs, parameters)
    const encoding = negotiate(FEATURE_SCHEMA_ENCODINGS, parameterOf(pairs, 'f'), request.headers.accept)
    const base = baseUrl.of(request)
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    const schema = await parts.catalog.withCurrent(dataset, (current) =>
      parts.snapshots.use(current, async ({ folder, manifest }) => {
        await parts.verification.requireFile(folder, manifest, SNAPSHOT_FILES.rows)
        const sizes = (await integerSizesOf(folder, manifest)).slice(-manifest.columns.length)
        return featureSchema(current, base, sizes)
      }),
    )
    return sendDocument(request, reply, encoding, JSON.stringify(schema), grant)
  })

  facetRoutes(app, parts)
  aggregateRoutes(app, parts)
  extractRoutes(app, parts)
  searchRoutes(app, parts)
}
