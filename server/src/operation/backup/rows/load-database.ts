import { type BackupRecord, tableFile } from '../backup-record.ts'
import { CopyError } from '../copy-error.ts'
import { digestOf, type RowReader, type RowWriter } from './row-database.ts'
import { RowDigest } from './row-digest.ts'
import { readTableFile } from './table-file.ts'
import { type TableShape, tableShapes } from './table-shapes-store.ts'

/** The source of the rows: the files of a backup, or another database. */
export type RowSource = Pick<RowReader, 'rows'>

export function backupRows(folder: string, { database }: BackupRecord): RowSource {
  return {
    rows: (shape) => {
      const table = database.tables.find(({ name }) => name === shape.name)
      if (!table || table.columns.join() !== shape.columns.join()) {
        throw new CopyError(`The backup has no table ${shape.name} as this program knows it.`)
      }
      return readTableFile(tableFile(folder, shape.name), shape.columns.length)
    },
  }
}

/**
 * Copies every table into a writer, reads the rows back and compares them. Does not commit. `expected` has
 * the known digests of the source.
 */
export async function loadDatabase(
  source: RowSource,
  writer: RowWriter,
  schemaVersion: number,
  expected: ReadonlyMap<string, string> = new Map(),
  onRows: (rows: number) => void = () => {},
): Promise<{ tables: number; rows: number }> {
  const shapes = tableShapes(schemaVersion)
  let rows = 0
  for (const shape of shapes) {
    const digest = new RowDigest()
    for await (const batch of source.rows(shape)) {
      for (const row of batch) digest.add(JSON.stringify(row))
      await writer.insert(shape, batch)
      rows += batch.length
      onRows(rows)
    }
    const { digest: sent } = digest.result()
    if ((expected.get(shape.name) ?? sent) !== sent) {
      throw new CopyError(`The rows of ${shape.name} are not those that were backed up.`)
    }
    await requireDigest(writer, shape, sent)
  }
  await writer.complete(shapes)
  return { tables: shapes.length, rows }
}

async function requireDigest(writer: RowWriter, shape: TableShape, sent: string): Promise<void> {
  const { digest } = await digestOf(writer, shape)
  if (digest !== sent)
    throw new CopyError(`The rows of ${shape.name} changed on their way; nothing was kept.`)
}
