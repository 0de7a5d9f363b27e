import {
  type Compiled,
  type CompileOptions,
  type CompileProgress,
  compileInChildProcess,
  type Inspection,
  inspectInChildProcess,
  type PlannedParts,
  planPartsInChildProcess,
  type Sandbox,
  stagePartInChildProcess,
} from '@wayleave/geodata/compile'
import {
  buildChangesInChildProcess,
  buildExportInChildProcess,
  buildVariantInChildProcess,
} from '@wayleave/geodata/exports'

/** The long computations on datasets. The service passes them in, so that tests can run them differently. */
export interface DataWork {
  compile: (
    options: CompileOptions,
    onProgress?: (progress: CompileProgress) => void,
    signal?: AbortSignal,
  ) => Promise<Compiled>
  inspect: (
    options: CompileOptions,
    onProgress?: (progress: CompileProgress) => void,
    signal?: AbortSignal,
  ) => Promise<Inspection>
  /** Divides a source into parts; null if it is to be read as a whole. */
  planParts: (
    options: CompileOptions,
    partBytes: number,
    signal?: AbortSignal,
  ) => Promise<PlannedParts | null>
  /** Stages a part. Returns the path of the file that it makes in the folder of the options. */
  stagePart: (
    options: CompileOptions,
    part: number,
    onProgress?: (progress: CompileProgress) => void,
    signal?: AbortSignal,
  ) => Promise<string>
  buildExport: typeof buildExportInChildProcess
  buildVariant: typeof buildVariantInChildProcess
  buildChanges: typeof buildChangesInChildProcess
}

/**
 * Runs each computation in a child process: the event loop stays free, memory is bounded for each, and an
 * abort takes effect at once. Only compiling reads files of others, so only it is in a sandbox.
 */
export function childProcessWork(sandbox: Sandbox): DataWork {
  return {
    compile: (options, onProgress, signal) => compileInChildProcess(options, onProgress, signal, sandbox),
    inspect: (options, onProgress, signal) => inspectInChildProcess(options, onProgress, signal, sandbox),
    planParts: (options, partBytes, signal) => planPartsInChildProcess(options, partBytes, signal, sandbox),
    stagePart: (options, part, onProgress, signal) =>
      stagePartInChildProcess(options, part, onProgress, signal, sandbox),
    buildExport: buildExportInChildProcess,
    buildVariant: buildVariantInChildProcess,
    buildChanges: buildChangesInChildProcess,
  }
}
