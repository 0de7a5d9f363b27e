/** The download formats and how they are built. Writers are imported when they are called. */
export { ExportError, ProcessEndedError } from '../export-error.ts'
export {
  buildChangesInChildProcess,
  buildExportInChildProcess,
  buildVariantInChildProcess,
} from '../exports/build-in-child-process.ts'
export { CHANGES_FORMATS, type ChangesFormat } from '../exports/changes/changes-formats.ts'
export { type ChangeCounts, hasStableIds } from '../exports/changes/compare-snapshots.ts'
export type { ExportOptions } from '../exports/export-options.ts'
export { geojsonParts } from '../exports/geojson.ts'
export {
  buildExport,
  EXPORT_GENERATION,
  type ExportFormatEntry,
  exportFormatsOf,
  exportGeneration,
} from '../exports/index.ts'
export { buildVariant, type Variant, variantPath } from '../exports/variant.ts'
export { type BuiltFile, removeStalePartials, writeAtomically } from '../exports/write-atomically.ts'

export const buildChanges: typeof import('../exports/changes/build-changes.ts').buildChanges = async (
  ...args
) => (await import('../exports/changes/build-changes.ts')).buildChanges(...args)
