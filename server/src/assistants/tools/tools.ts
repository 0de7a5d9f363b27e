import type { Tool } from '../tool.ts'
import { aggregate } from './aggregate.ts'
import { describeDataset } from './describe-dataset.ts'
import { getFeature } from './get-feature.ts'
import { myUsage } from './my-usage.ts'
import { prepareDownload } from './prepare-download.ts'
import { queryFeatures } from './query-features.ts'
import { searchDatasets } from './search-datasets.ts'

export const tools: readonly Tool[] = [
  searchDatasets,
  describeDataset,
  queryFeatures,
  aggregate,
  getFeature,
  prepareDownload,
  myUsage,
]
