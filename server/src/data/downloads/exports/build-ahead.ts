import { join } from 'node:path'
import { ExportError, type ExportOptions, exportFormatsOf } from '@wayleave/geodata/exports'
import { type Manifest, makeFolderDurably } from '@wayleave/geodata/snapshot'
import type { DataWork } from '../../../base/data-work.ts'
import { exportPath, writeMeta } from './built-file.ts'

/**
 * Builds every format of a snapshot that is not visible yet, so that no first request has to wait. Returns a
 * sentence for each format that cannot hold this data.
 */
export async function buildExportsAhead(
  folder: string,
  manifest: Manifest,
  work: DataWork,
  options: ExportOptions,
): Promise<string[]> {
  const notes: string[] = []
  await makeFolderDurably(join(folder, 'exports'))
  for (const format of exportFormatsOf(manifest)) {
    if (format.ready) continue
    const path = exportPath(folder, options.table, format, options.escapeFormulas)
    try {
      await writeMeta(path, await work.buildExport(folder, format.format, path, options))
    } catch (error) {
      if (!(error instanceof ExportError) || error.code !== 'shapefile-too-large') throw error
      notes.push(`${format.format}: ${error.message}`)
    }
  }
  return notes
}
