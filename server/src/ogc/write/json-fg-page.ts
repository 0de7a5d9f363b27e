import { FeatureSlices, PropertySlices } from '@wayleave/geodata/features'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { PageBytes } from '@wayleave/query'
import { CRS84, type Crs, isPackCrs } from '../request/crs-list.ts'
import { PAGE_TAIL, pageHead } from './geojson-page.ts'
import { ROOT } from './links.ts'
import type { WritePage } from './page-content.ts'
import { geometryIn, rewriteFeatures } from './rewrite-features.ts'

const JSON_FG = 'http://www.opengis.net/spec/json-fg-1/1.0/conf'
const CONFORMS_TO = JSON.stringify([`${JSON_FG}/core`, `${JSON_FG}/types-schemas`])

/** Writes JSON-FG: GeoJSON with the time, the type and, for other CRSs, the `place` of each feature. */
export const writeJsonFg: WritePage = async (content) => {
  const { dataset, manifest, base, query, head, block: all, work, until } = content
  const { crs } = query
  const dimension = dimensionOf(manifest)
  const members = `${rootMembers(dataset.table, base, crs)}${dimension === null ? '' : `"geometryDimension":${dimension},`}`
  const block = await rewriteFeatures(all, manifest, { crs: CRS84, shown: query.shown }, work, until)
  const page = new PageBytes(block.bytes.length + block.count * 100)
  const writer = new FeatureWriter(manifest, crs)
  const writeFeature = (i: number) => {
    if (i > 0) page.text(',\n')
    page.text(HEAD)
    writer.write(
      page,
      all.bytes.subarray(all.starts[i], all.ends[i]),
      block.bytes.subarray(block.starts[i], block.ends[i]),
    )
  }
  const returned = await work.each(block.count, writeFeature, until)
  const text = pageHead(head(returned), members)
  return { body: Buffer.concat([Buffer.from(text), page.all(), PAGE_TAIL]), returned }
}

const HEAD = '{"type":"Feature",'

/** One feature as a separate document. */
export function jsonFgItem(
  feature: Buffer,
  manifest: Manifest,
  crs: Crs,
  table: string,
  base: string,
  links: string,
): string {
  const page = new PageBytes()
  page.text(`${HEAD}${rootMembers(table, base, crs)}"links":${links},`)
  new FeatureWriter(manifest, crs).write(page, feature, feature)
  return page.all().toString('utf8')
}

function rootMembers(table: string, base: string, crs: Crs): string {
  const schema = JSON.stringify(`${base}${ROOT}/collections/${table}/schema`)
  return `"conformsTo":${CONFORMS_TO},"featureType":"${table}","featureSchema":${schema},"coordRefSys":"${crs.uri}",`
}

/** 0 for points, 1 for lines, 2 for polygons; null if they are mixed. */
function dimensionOf({ geometryTypes }: Manifest): number | null {
  const kinds = new Set(geometryTypes.map((type) => type.replace('Multi', '')))
  const [kind = ''] = kinds
  const dimension = ['Point', 'LineString', 'Polygon'].indexOf(kind)
  return kinds.size === 1 && dimension !== -1 ? dimension : null
}

/** Writes features, beginning with their ids. */
class FeatureWriter {
  readonly #crs: Crs
  readonly #slices = new FeatureSlices()
  readonly #values: PropertySlices
  readonly #timeColumn: number
  readonly #timeName: string

  constructor({ columns, timeColumn }: Manifest, crs: Crs) {
    this.#crs = crs
    this.#values = new PropertySlices(columns)
    this.#timeColumn = columns.findIndex(({ name }) => name === timeColumn)
    this.#timeName = columns[this.#timeColumn]?.type === 'date' ? 'date' : 'timestamp'
  }

  /** `whole` has the time column even if it is not among the returned properties. */
  write(page: PageBytes, whole: Buffer, feature: Buffer): void {
    const slices = this.#slices
    const time = this.#timeText(whole)
    slices.locate(feature, 0, feature.length)
    page.text('"id":')
    page.copy(feature, slices.idStart, slices.idEnd)
    page.text(`,"time":${time},"geometry":`)
    if (isPackCrs(this.#crs)) {
      page.copy(feature, slices.geometryStart, slices.geometryEnd)
      page.text(',"place":null')
    } else {
      const geometry = feature.subarray(slices.geometryStart, slices.geometryEnd)
      page.text(`null,"place":${geometryIn(this.#crs, geometry)}`)
    }
    page.text(',"properties":')
    page.copy(feature, slices.propertiesStart, slices.propertiesEnd)
    page.text('}')
  }

  #timeText(feature: Buffer): string {
    if (this.#timeColumn === -1) return 'null'
    const [slices, values, column] = [this.#slices, this.#values, this.#timeColumn]
    slices.locate(feature, 0, feature.length)
    values.locate(feature, slices.propertiesStart, slices.propertiesEnd)
    if (values.isNull(feature, column)) return 'null'
    return `{"${this.#timeName}":${feature.toString('latin1', values.starts[column], values.ends[column])}}`
  }
}
