import { FeatureSlices } from '@wayleave/geodata/exports/pack-reader.ts'
import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import { CRS84, type Crs } from './crs-list.ts'
import { PAGE_TAIL, pageHead } from './geojson-page.ts'
import { ROOT } from './links.ts'
import type { WritePage } from './page-content.ts'
import { parseFeature } from './parse-feature.ts'
import { geometryIn, rewriteFeatures } from './rewrite-features.ts'
import { takeTurns } from './take-turns.ts'

const JSON_FG = 'http://www.opengis.net/spec/json-fg-1/1.0/conf'
const CONFORMS_TO = JSON.stringify([`${JSON_FG}/core`, `${JSON_FG}/types-schemas`])

/** JSON-FG: GeoJSON with the time, the type and, in another CRS, the place of each feature. */
export const writeJsonFg: WritePage = async ({ dataset, manifest, base, query, head, block: all }) => {
  const { crs } = query
  const schema = `${base}${ROOT}/collections/${dataset.table}/schema`
  const members = `"conformsTo":${CONFORMS_TO},"featureType":"${dataset.table}","featureSchema":${JSON.stringify(schema)},"coordRefSys":"${crs.uri}",`
  const block = await rewriteFeatures(all, manifest, CRS84, query.shown)
  const texts: string[] = []
  await takeTurns(block.count, (i) => {
    texts.push(
      featureText(
        all.bytes.subarray(all.starts[i], all.ends[i]),
        block.bytes.subarray(block.starts[i], block.ends[i]),
        manifest,
        crs,
      ),
    )
  })
  return Buffer.concat([Buffer.from(pageHead(head, members)), Buffer.from(texts.join(',\n')), PAGE_TAIL])
}

/** One feature as a document of its own. */
export function jsonFgItem(
  feature: Buffer,
  manifest: Manifest,
  crs: Crs,
  table: string,
  links: string,
): string {
  const text = featureText(feature, feature, manifest, crs)
  const members = `"conformsTo":${CONFORMS_TO},"featureType":"${table}","coordRefSys":"${crs.uri}","links":${links},`
  return `{"type":"Feature",${members}${text.slice('{"type":"Feature",'.length)}`
}

/** `whole` has the column that tells the time, even where it is not shown. */
function featureText(whole: Buffer, feature: Buffer, manifest: Manifest, crs: Crs): string {
  const slices = new FeatureSlices()
  slices.locate(feature, 0, feature.length)
  const id = feature.toString('utf8', slices.idStart, slices.idEnd)
  const geometry = feature.subarray(slices.geometryStart, slices.geometryEnd)
  const properties = feature.toString('utf8', slices.propertiesStart, slices.propertiesEnd)
  const [shape, place] =
    crs === CRS84 ? [geometry.toString('latin1'), 'null'] : ['null', geometryIn(crs, geometry)]
  return `{"type":"Feature","id":${id},"time":${timeText(whole, manifest)},"geometry":${shape},"place":${place},"properties":${properties}}`
}

function timeText(feature: Buffer, { timeColumn, columns }: Manifest): string {
  if (timeColumn === null) return 'null'
  const value = parseFeature(feature).properties[timeColumn]
  if (typeof value !== 'string') return 'null'
  const { type } = columns.find(({ name }) => name === timeColumn)!
  return `{"${type === 'date' ? 'date' : 'timestamp'}":${JSON.stringify(value)}}`
}
