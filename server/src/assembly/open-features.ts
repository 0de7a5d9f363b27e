import { randomBytes } from 'node:crypto'
import { machineMemory, type SharedLoads } from '@wayleave/geodata/base'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { QueryEngine, Workload } from '@wayleave/query'
import type { Logger } from 'pino'
import { installationSecret } from '../accounts/identity/installation-secret-store.ts'
import { usedSecret } from '../accounts/identity/key-cipher.ts'
import type { ControlDatabase } from '../base/database/open.ts'
import type { Config } from '../base/settings/config.ts'
import type { ThreadPlace } from '../base/threads/thread-place.ts'
import { traced } from '../base/tracing/tracing.ts'
import type { Blobs } from '../data/blobs/blobs.ts'
import type { Verification } from '../data/catalog/background-verification.ts'
import type { OpenSnapshots } from '../data/catalog/open-snapshots.ts'
import { Cursors } from '../ogc/request/cursor.ts'
import type { Closers } from './closers.ts'

/** Size in bytes of GeoJSON text; parsed geometries take about five times as much. */
const GEOMETRY_CACHE_BYTES = 32 * 1024 ** 2
/** Size of the cache of compiled columns. A column takes 5 to 36 bytes per feature. */
const COLUMN_CACHE_BYTES = Math.min(1024 ** 3, Math.floor(machineMemory() / 16))

/** The max query processes of all threads together, unless there are more threads. */
const MAX_QUERY_PROCESSES = 4

interface FeaturesOpening {
  config: Config
  database: ControlDatabase
  blobs: Blobs
  snapshots: OpenSnapshots
  verification: Verification
  log: Logger
  thread?: ThreadPlace | undefined
  loads?: SharedLoads | undefined
}

/** The parts that select features of snapshots. */
export interface FeatureParts {
  engine: QueryEngine
  workload: Workload
  cursors: Cursors
}

export async function openFeatures(opening: FeaturesOpening, opened: Closers): Promise<FeatureParts> {
  const { config, database, blobs, snapshots, verification, log, thread, loads } = opening
  const engine = opened.use(
    new QueryEngine(blobs.root, {
      requireRows: async ({ folder, manifest }) => {
        await verification.requireFile(folder, manifest, SNAPSHOT_FILES.rows)
        if (manifest.files[SNAPSHOT_FILES.ids]) {
          await verification.requireFile(folder, manifest, SNAPSHOT_FILES.ids)
        }
      },
      megabytes: config.queryMemory,
      geometryBytes: GEOMETRY_CACHE_BYTES / (thread?.count ?? 1),
      sharedLoads: loads ?? null,
      processes: thread && Math.max(1, Math.floor(MAX_QUERY_PROCESSES / thread.count)),
      columnBytes: COLUMN_CACHE_BYTES,
      log,
      trace: traced,
    }),
  )
  snapshots.onOpen = (snapshot) => engine.columns.expect(snapshot)
  const workload = new Workload({
    queryMs: config.querySeconds * 1000,
    pageBytes: config.maxPageBytes,
  })
  const cursorSecret = await installationSecret(database.db, 'cursor-signature', () =>
    randomBytes(32).toString('base64url'),
  )
  const cursors = new Cursors(usedSecret(cursorSecret, 'cursor-signature', config.secretKey))
  return { engine, workload, cursors }
}
