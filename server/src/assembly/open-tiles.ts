import type { QueryEngine, Workload } from '@wayleave/query'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { Changes } from '../base/database/changes/changes.ts'
import type { ControlDatabase } from '../base/database/open.ts'
import type { Blobs } from '../data/blobs/blobs.ts'
import type { Catalog } from '../data/catalog/catalog.ts'
import type { OpenSnapshots } from '../data/catalog/open-snapshots.ts'
import type { SnapshotHealth } from '../data/catalog/snapshot-health.ts'
import type { TileFiles } from '../data/downloads/exports/exports.ts'
import type { JobQueue } from '../data/jobs/job-queue.ts'
import type { JobRunner } from '../data/jobs/job-runner.ts'
import { PartKinds } from '../data/jobs/part-kinds.ts'
import type { SourcePartJobs } from '../data/sources/source-part-jobs.ts'
import { DynamicTiles } from '../ogc/tiles/dynamic-tiles.ts'
import { PartJobs } from '../ogc/tiles/part-jobs.ts'
import { PartedBuilds } from '../ogc/tiles/parted-builds.ts'
import { TileArchives } from '../ogc/tiles/tile-archives.ts'
import { TileBuilds } from '../ogc/tiles/tile-builds.ts'
import { TileJobs } from '../ogc/tiles/tile-jobs.ts'
import { TileStates } from '../ogc/tiles/tile-states.ts'
import { Tilesets } from '../ogc/tiles/tilesets.ts'
import type { Closers } from './closers.ts'

interface TilesOpening {
  database: ControlDatabase
  changes: Changes
  blobs: Blobs
  catalog: Catalog
  health: SnapshotHealth
  snapshots: OpenSnapshots
  engine: QueryEngine
  workload: Workload
  jobQueue: JobQueue
  runner: JobRunner
  sourceParts: SourcePartJobs
  clock: Clock
  log: Logger
  /** The deepest zoom that may be built. */
  maxZoom: number
  /** The bytes in the pack of the parts that workers build. */
  partBytes: number
}

/** The parts that build and serve vector tiles. */
export interface TileParts {
  tileStates: TileStates
  tileBuilds: TileBuilds
  tileArchives: TileArchives
  dynamicTiles: DynamicTiles
  tilesets: Tilesets
  tileFiles: TileFiles
}

export function openTiles(opening: TilesOpening, opened: Closers): TileParts {
  const { database, blobs, catalog, health, snapshots, engine, workload, runner, clock, log } = opening
  const { changes, jobQueue: jobs, maxZoom, partBytes } = opening
  const states = new TileStates({ blobs, changes, clock, jobs, log })
  const parted = new PartedBuilds({ database, blobs, catalog, jobs, log, maxZoom, partBytes })
  const builds = opened.use(new TileBuilds({ blobs, catalog, log, clock, jobs, states, parted, maxZoom }))
  runner.handle('tiles', new TileJobs({ database, catalog, health, states, builds, log }))
  const parts = new PartJobs({ database, catalog, health, parted, log })
  runner.handle('part', new PartKinds(opening.sourceParts, parts))
  const archives = opened.use(new TileArchives({ blobs, states }))
  const dynamic = opened.use(new DynamicTiles({ engine, snapshots, workload }))
  return {
    tileStates: states,
    tileBuilds: builds,
    tileArchives: archives,
    dynamicTiles: dynamic,
    tilesets: new Tilesets({ catalog, clock, states, builds, archives, dynamic }),
    tileFiles: {
      findFile: (version) => states.findFile(version),
      build: (version, wait) => builds.build(version, wait),
      onReplacement: (listener) => states.onReplacement(listener),
    },
  }
}
