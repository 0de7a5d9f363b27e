import { FlatgeobufPage } from '@wayleave/geodata/features'
import { PageBytes } from '@wayleave/query'
import { CRS84 } from '../request/crs-list.ts'
import { integerSizesOf } from './integer-sizes-of.ts'
import type { WritePage } from './page-content.ts'
import { rewriteFeatures } from './rewrite-features.ts'

/** Writes FlatGeobuf. Positions are x first in every CRS. */
export const writeFlatgeobuf: WritePage = async (content) => {
  const { manifest, dataset, query, folder, work, until } = content
  const { fromWgs84, maxLatitude, code } = query.crs
  const writer = new FlatgeobufPage({
    manifest,
    table: dataset.table,
    title: dataset.title,
    shown: query.shown,
    integerSizes: await integerSizesOf(folder, manifest),
    crs: {
      code: fromWgs84 === null ? 'EPSG:4326' : code,
      fromWgs84,
      maxLatitude,
    },
  })
  const block = await rewriteFeatures(
    content.block,
    manifest,
    { crs: CRS84, shown: query.shown },
    work,
    until,
  )
  const page = new PageBytes(block.bytes.length + 1024)
  const writeFeature = (i: number) => {
    const feature = writer.feature(block.bytes, block.starts[i]!, block.ends[i]!)
    page.copy(feature, 0, feature.length)
  }
  const returned = await work.each(block.count, writeFeature, until)
  return { body: Buffer.concat([writer.head(returned), page.all()]), returned }
}
