import { DatabaseSync } from 'node:sqlite'
import type { Column } from '../../feature.ts'
import { exportColumns, hasIntegerIds } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { encodePack } from '../encode-pack.ts'
import type { ExportOptions } from '../export-options.ts'
import { type IntegerSize, integerSizes } from '../integer-ranges.ts'
import { createRtree, RtreeBuilder, rootPage } from './rtree.ts'
import { createTables, createTriggers, tableNames } from './schema.ts'
import { SortedRows } from './sorted-rows.ts'
import { BtreeWriter } from './sqlite/btree-writer.ts'
import { PageFile } from './sqlite/page-file.ts'

/** An incomplete file is discarded, so neither a journal nor a sync is needed in between. */
const PRAGMAS = 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;'

/**
 * OGC GeoPackage 1.3 with its R-tree extension; a table without geometry becomes an attributes table. Row ids
 * are the features' ids if those are integers and more than row numbers; otherwise they follow the snapshot
 * order. Readers return the rows in the order of row ids.
 *
 * SQLite creates the tables, and their rows are written as pages of the file: binding and inserting values took more
 * than a third of the time.
 */
export async function writeGeopackage(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
): Promise<undefined> {
  const columns = exportColumns(manifest)
  const sizes = await integerSizes(folder, columns)
  const hasOwnIds = hasIntegerIds(manifest) && areRowIds(manifest, columns, sizes)
  const names = tableNames({ ...manifest, columns })
  const roots = withDatabase(partial, (database) => {
    createTables(database, { ...manifest, columns }, names, sizes, options)
    const rtree = names.geometry ? createRtree(database, `rtree_${options.table}_${names.geometry}`) : null
    createTriggers(database, options.table, names)
    return { rtree, rows: rootPage(database, options.table) }
  })
  const rtree = roots.rtree ? new RtreeBuilder(manifest.rows) : null
  const file = new PageFile(partial)
  const sorted = hasOwnIds ? new SortedRows(`${partial}.parts`, manifest.rows) : null
  const table = new BtreeWriter(file, roots.rows)
  const target = sorted ?? table
  try {
    const work = { folder, manifest, format: 'gpkg', table: options.table, sizes } as const
    let rows = 0
    for await (const { count, bytes, lengths, boxes, ids } of encodePack(work, options)) {
      for (let i = 0, start = 0, end = 0; i < count; i++, start = end) {
        end = start + lengths[i]!
        const id = hasOwnIds ? ids[i]! : ++rows
        target.add(id, bytes, start, end)
        const west = boxes[i * 4]!
        const east = boxes[i * 4 + 2]!
        if (west <= east) rtree?.add(id, west, east, boxes[i * 4 + 1]!, boxes[i * 4 + 3]!)
      }
    }
    sorted?.each((id, bytes, start, end) => table.add(id, bytes, start, end))
    table.finish()
    if (rtree && roots.rtree) rtree.write(file, roots.rtree)
    file.close()
  } finally {
    sorted?.close()
    file.abandon()
  }
  if (manifest.rows > 0)
    withDatabase(partial, (database) => setSequence(database, options.table, table.lastId))
}

/** What AUTOINCREMENT needs: the largest row id, but no negative one. */
function setSequence(database: DatabaseSync, table: string, lastId: number): void {
  database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, Math.max(0, lastId))
}

function withDatabase<T>(path: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path)
  try {
    database.exec(PRAGMAS)
    database.exec('BEGIN')
    const result = work(database)
    database.exec('COMMIT')
    return result
  } finally {
    database.close()
  }
}

/** Row ids are exact in a double, because the R-tree is built from doubles. */
function areRowIds(
  { id }: Manifest,
  columns: readonly Column[],
  sizes: readonly (IntegerSize | null)[],
): boolean {
  const size = sizes[columns.findIndex(({ name }) => name === (id.column ?? id.name))]
  return size === 'int32' || size === 'int53'
}
