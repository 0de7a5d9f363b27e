import {
  type Compiled,
  type CompileOptions,
  type CompileProgress,
  compileInChildProcess,
  type Inspection,
  inspectInChildProcess,
  type Sandbox,
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
    buildExport: buildExportInChildProcess,
    buildVariant: buildVariantInChildProcess,
    buildChanges: buildChangesInChildProcess,
  }
}
