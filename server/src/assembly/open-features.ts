import { randomBytes } from 'node:crypto'
import { totalmem } from 'node:os'
import { ColumnCache } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import { installationSecret } from '../accounts/identity/installation-secret-store.ts'
import { usedSecret } from '../accounts/identity/key-cipher.ts'
import type { Clock } from '../base/clock.ts'
import type { ControlDatabase } from '../base/database/open.ts'
import type { Config } from '../base/settings/config.ts'
import type { Blobs } from '../data/blobs/blobs.ts'
import type { Verification } from '../data/catalog/background-verification.ts'
import type { Catalog } from '../data/catalog/catalog.ts'
import type { OpenSnapshots } from '../data/catalog/open-snapshots.ts'
import { Facets } from '../ogc/facets/facets.ts'
import { Cursors } from '../ogc/request/cursor.ts'
import { CompiledSelection } from '../ogc/select/compiled/compiled-selection.ts'
import { FeatureSelection } from '../ogc/select/feature-selection.ts'
import { GeometryCache } from '../ogc/select/geometry-cache.ts'
import { RowQueries } from '../ogc/select/rows/row-queries.ts'
import { Workload } from '../ogc/select/workload.ts'
import type { Closers } from './closers.ts'

/** Size in bytes of GeoJSON text; parsed geometries take about five times as much. */
const GEOMETRY_CACHE_BYTES = 32 * 1024 ** 2
/** Size of the cache of compiled columns. A column takes 5 to 32 bytes per feature. */
const COLUMN_CACHE_BYTES = Math.min(1024 ** 3, Math.floor(totalmem() / 16))

interface FeaturesOpening {
  config: Config
  database: ControlDatabase
  blobs: Blobs
  catalog: Catalog
  snapshots: OpenSnapshots
  verification: Verification
  clock: Clock
  log: Logger
}

/** The parts that select features of snapshots. */
export interface FeatureParts {
  /** Database queries on the rows of snapshots. */
  rows: RowQueries
  workload: Workload
  cursors: Cursors
  columns: ColumnCache
  featureSelection: FeatureSelection
  facets: Facets
}

export async function openFeatures(opening: FeaturesOpening, opened: Closers): Promise<FeatureParts> {
  const { config, database, blobs, catalog, snapshots, verification, clock, log } = opening
  const rows = opened.use(
    new RowQueries(blobs.root, {
      requireRows: async ({ folder, manifest }) => {
        await verification.requireFile(folder, manifest, SNAPSHOT_FILES.rows)
        if (manifest.files[SNAPSHOT_FILES.ids]) {
          await verification.requireFile(folder, manifest, SNAPSHOT_FILES.ids)
        }
      },
      megabytes: config.queryMemory,
      log,
    }),
  )
  const workload = new Workload({
    queryMs: config.querySeconds * 1000,
    pageBytes: config.maxPageBytes,
  })
  const cursorSecret = await installationSecret(database.db, 'cursor-signature', () =>
    randomBytes(32).toString('base64url'),
  )
  const cursors = new Cursors(usedSecret(cursorSecret, 'cursor-signature', config.secretKey))
  const geometries = new GeometryCache(GEOMETRY_CACHE_BYTES)
  const columns = new ColumnCache(COLUMN_CACHE_BYTES)
  snapshots.onOpen = (snapshot) => columns.expect(snapshot)
  const compiled = new CompiledSelection(columns, geometries)
  const featureSelection = new FeatureSelection({
    catalog,
    snapshots,
    geometries,
    rows,
    compiled,
    clock,
    cursors,
  })
  const facets = new Facets({ columns, compiled, geometries, rows })
  return { rows, workload, cursors, columns, featureSelection, facets }
}
