import type { ExtractLimits } from '../ogc/extract/extract-routes.ts'
import { DailyFeatures } from '../ogc/items/daily-features.ts'
import { SharedFeatureCounts } from '../ogc/items/feature-counts.ts'
import { CrsList } from '../ogc/request/crs-list.ts'
import type { Closers } from './closers.ts'
import type { BaseParts } from './open-base.ts'
import type { DataOpening, JobParts } from './open-data.ts'
import type { FeatureParts } from './open-features.ts'
import { openTiles, type TileParts } from './open-tiles.ts'

/** What the OGC APIs need: features, tiles, and the limits of both. */
export interface OgcParts extends FeatureParts, TileParts {
  crsList: CrsList
  extractLimits: ExtractLimits
  dailyFeatures: DailyFeatures
}

export function openOgc(
  opening: DataOpening & JobParts & FeatureParts & Pick<BaseParts, 'redis'>,
  opened: Closers,
): OgcParts {
  const { config, clock, redis, engine, workload, cursors, thread } = opening
  return {
    engine,
    workload,
    cursors,
    ...openTiles({ ...opening, maxZoom: config.tileMaxZoom, partBytes: config.tilePartBytes }, opened),
    crsList: new CrsList(config.crs),
    extractLimits: { maxRows: config.extractRows, maxBytes: config.extractBytes },
    dailyFeatures: new DailyFeatures(
      config.dailyFeatures,
      clock,
      redis,
      thread && new SharedFeatureCounts(thread.memory.features),
    ),
  }
}
