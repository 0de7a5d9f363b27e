import { askerOf } from '../../access/authenticate.ts'
import type { Dataset } from '../../catalog/dataset.ts'
import type { App } from '../../http/fastify-app.ts'
import { notFound } from '../../problem.ts'
import { itemHtml } from '../html/features.ts'
import { storageCrs } from '../request/crs-list.ts'
import { type Encoding, geojson, html, ITEM_ENCODINGS, json, negotiate } from '../request/encodings.ts'
import { parameterOf, type QueryPair, readQuery, refuseUnknown } from '../request/query-string.ts'
import { parseFeature } from '../select/parse-feature.ts'
import { jsonFgItem } from '../write/json-fg-page.ts'
import { type Link, ROOT, selfAndAlternates } from '../write/links.ts'
import { sendDocument } from '../write/respond.ts'
import { rewriteFeatures } from '../write/rewrite-features.ts'
import { admit, tableOf } from './admit.ts'
import type { ItemsDeps } from './items-page.ts'

export function itemRoutes(app: App, parts: ItemsDeps): void {
  const known = parts.keyInUrl ? ['f', 'crs', 'api_key'] : ['f', 'crs']

  // A wildcard, because an id may contain slashes and have any length.
  app.get(`${ROOT}/collections/:table/items/*`, async (request, reply) => {
    const { grant, dataset } = await admit(askerOf(request, reply), tableOf(request), parts)
    const { crsList, snapshots, meter, dailyFeatures } = parts
    const id = (request.params as { '*': string })['*']
    const pairs = readQuery(request.url)
    refuseUnknown(pairs, known)
    const encoding = negotiate(ITEM_ENCODINGS, parameterOf(pairs, 'f'), request.headers.accept)
    const named = parameterOf(pairs, 'crs')
    const crs =
      named === undefined ? storageCrs(dataset.manifest) : crsList.named('crs', named, dataset.manifest)
    const feature = await snapshots.use(dataset, async (snapshot) => {
      const position = await snapshot.findById(id)
      if (position === -1) throw notFound(`feature "${id.slice(0, 80)}" in the collection "${dataset.table}"`)
      return snapshot.readPack(position, position + 1)
    })
    await dailyFeatures.take(grant.owner, 1)
    meter.record(grant, { operation: 'item', table: dataset.table, format: encoding.name })
    const base = parts.baseUrl.of(request)
    const links = itemLinks(base, dataset, id, pairs, encoding)
    reply.header('content-crs', crs.header)
    const text = async () => {
      if (encoding === html) return itemHtml(base, dataset, parseFeature(feature), links)
      if (encoding !== geojson) {
        return jsonFgItem(feature, dataset.manifest, crs, dataset.table, base, JSON.stringify(links))
      }
      const whole = {
        bytes: feature,
        count: 1,
        starts: Int32Array.of(0),
        ends: Int32Array.of(feature.length),
      }
      const { bytes, ends } = await rewriteFeatures(whole, dataset.manifest, crs, null)
      return `${bytes.toString('utf8', 0, ends[0]! - 1)},"links":${JSON.stringify(links)}}\n`
    }
    return sendDocument(request, reply, encoding, await text())
  })
}

function itemLinks(
  base: string,
  { table, title }: Dataset,
  id: string,
  pairs: readonly QueryPair[],
  encoding: Encoding,
): Link[] {
  const collection = `${base}${ROOT}/collections/${table}`
  const url = `${collection}/items/${encodeURIComponent(id)}`
  return [
    ...selfAndAlternates(url, pairs, ITEM_ENCODINGS, encoding),
    { href: collection, rel: 'collection', type: json.mediaType, title },
  ]
}
