/** From a source to a snapshot. The compiler itself is imported when it is called, because the command line imports this file. */
export {
  CompileDiskFullError,
  CompileInterruptedError,
  CompileKilledError,
  compileInChildProcess,
  compileNodeFlags,
  inspectInChildProcess,
  planPartsInChildProcess,
  stagePartInChildProcess,
} from '../compile/compile-in-child-process.ts'
export type {
  ColumnChoice,
  Compiled,
  CompileLimits,
  CompileOptions,
  CompileProgress,
  CompileReport,
  Inspection,
} from '../compile/compile-options.ts'
export { InvalidSourceError } from '../compile/invalid-source-error.ts'
export { memoryPerCompilation } from '../compile/memory.ts'
export { RemainingTime } from '../compile/remaining-time.ts'
export type { Revision } from '../compile/revise/revision.ts'
export { SchemaMismatchError } from '../compile/schema-mismatch-error.ts'
export type { PlannedParts } from '../compile/stage/stage-plan.ts'
export { lowerPriority } from '../lower-priority.ts'
export { childEnvironment } from '../sandbox/minimal-environment.ts'
export { Sandbox } from '../sandbox/sandbox.ts'
export { SourceError } from '../source-error.ts'

export const compileSnapshot: typeof import('../compile/compile-source.ts').compileSource = async (...args) =>
  (await import('../compile/compile-source.ts')).compileSource(...args)
export const inspectSource: typeof import('../compile/inspect.ts').inspectSource = async (...args) =>
  (await import('../compile/inspect.ts')).inspectSource(...args)
export const planParts: typeof import('../compile/stage-parts.ts').planParts = async (...args) =>
  (await import('../compile/stage-parts.ts')).planParts(...args)
export const stagePart: typeof import('../compile/stage-parts.ts').stagePart = async (...args) =>
  (await import('../compile/stage-parts.ts')).stagePart(...args)
export { MAX_PARTS } from '../formats/parts/source-part.ts'
export type { GdalOptions } from '../formats/reading/gdal-options.ts'
export type { ColumnRole, ReadOptions } from '../formats/reading/read-options.ts'
