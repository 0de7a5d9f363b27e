import { compileInChildProcess } from '@wayleave/geodata/compile'
import { buildExportInChildProcess, buildVariantInChildProcess } from '@wayleave/geodata/exports'

/** The long computations on datasets. The service passes them in, so that tests can run them differently. */
export interface DataWork {
  compile: typeof compileInChildProcess
  buildExport: typeof buildExportInChildProcess
  buildVariant: typeof buildVariantInChildProcess
}

/**
 * Runs each computation in a child process: the event loop stays free, memory is bounded for each, and an
 * abort takes effect at once.
 */
export const childProcessWork: DataWork = {
  compile: compileInChildProcess,
  buildExport: buildExportInChildProcess,
  buildVariant: buildVariantInChildProcess,
}
