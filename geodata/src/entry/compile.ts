/** From a source to a snapshot. The compiler itself is imported when it is called, because the command line imports this file. */
export {
  CompileDiskFullError,
  CompileInterruptedError,
  CompileKilledError,
  compileInChildProcess,
  compileNodeFlags,
} from '../compile/compile-in-child-process.ts'
export type {
  Compiled,
  CompileLimits,
  CompileOptions,
  CompileProgress,
  CompileReport,
} from '../compile/compile-options.ts'
export { InvalidSourceError } from '../compile/invalid-source-error.ts'
export { memoryPerCompilation } from '../compile/memory.ts'
export { lowerPriority } from '../lower-priority.ts'
export { childEnvironment } from '../sandbox/minimal-environment.ts'
export { Sandbox } from '../sandbox/sandbox.ts'
export { SourceError } from '../source-error.ts'

export const compileSnapshot: typeof import('../compile/compile.ts').compileSnapshot = async (...args) =>
  (await import('../compile/compile.ts')).compileSnapshot(...args)
export type { GdalOptions } from '../formats/reading/gdal-options.ts'
export type { ReadOptions } from '../formats/reading/read-options.ts'
