import { compileSnapshot, type OpenSource } from './compile.ts'
import type { Compiled, CompileOptions, CompileProgress } from './compile-options.ts'
import { compileRevision } from './revise/compile-revision.ts'

/** Compiles a source: a whole dataset, or changes to the version before. */
export function compileSource(
  options: CompileOptions,
  onProgress?: (progress: CompileProgress) => void,
  signal?: AbortSignal,
  source?: OpenSource,
): Promise<Compiled> {
  const { revision } = options
  return revision === undefined
    ? compileSnapshot(options, onProgress, signal, source)
    : compileRevision({ ...options, revision }, onProgress, signal)
}
