import { Sandbox } from '@wayleave/geodata/compile'
import type { Config } from '../../base/settings/config.ts'
import { type Check, ok, problem, warning } from './check.ts'

/** What protects the machine from files that others made, as a server on this machine would have it. */
export async function checkSandbox({ sandbox: mode, dataDir }: Config): Promise<Check> {
  const { layers, missing, isClosed } = await new Sandbox(mode, [dataDir]).state()
  if (isClosed) return ok('sandbox', `Files are read with ${layers.join(', ')}.`)
  const remedy =
    mode === 'off'
      ? 'Set WAYLEAVE_SANDBOX to auto or require.'
      : 'Install the package bubblewrap, and permit user namespaces to the service.'
  const active = layers.length > 0 ? ` Active: ${layers.join(', ')}.` : ''
  if (mode === 'require') return problem('sandbox', `No files are read: ${missing[0]}`, remedy)
  return warning(
    'sandbox',
    `A defect in a reader could expose what the service can read. ${missing[0]}${active}`,
    remedy,
  )
}
