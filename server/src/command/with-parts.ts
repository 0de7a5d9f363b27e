import { Closers } from '../assembly/closers.ts'
import type { ControlPlane } from '../assembly/control-plane.ts'
import { runningServerAddress } from '../assembly/server-address.ts'
import type { Parts } from '../assembly/wiring.ts'
import { systemClock } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import { existingConfig } from './command-config.ts'

// The modules of a command are loaded when it runs: help and usage errors are printed at once, and listing
// organizations does not load the data engine.

/**
 * Opens the parts of the service for one command, without serving. A server may run at the same time: it
 * applies the command's changes from its next request on. `newOrExistingConfig` is for commands that may come first.
 */
export async function withParts<T>(
  flags: { dataDir?: string },
  work: (parts: Parts) => Promise<T>,
  configOf = existingConfig,
): Promise<T> {
  const config = configOf(flags)
  const { makeLogger } = await import('../http/observability/logger.ts')
  const { openParts } = await import('../assembly/wiring.ts')
  const quiet = config.logLevel === 'silent' ? 'silent' : 'warn'
  const log = makeLogger(quiet, undefined, config.logFormat)
  const parts = await openParts({ config, log, clock: systemClock, serving: false })
  // Printed addresses are those of the running server, whatever port it was started with.
  const running = runningServerAddress(config.dataDir)
  if (running) parts.baseUrl.servedAt(running)
  else parts.baseUrl.listening(config.host, config.port)
  try {
    return await work(parts)
  } finally {
    await parts.close()
  }
}

/** The same for commands that only need accounts, keys and credits. */
export async function withControlPlane<T>(
  flags: { dataDir?: string },
  work: (control: ControlPlane) => Promise<T>,
  configOf = existingConfig,
): Promise<T> {
  const config = configOf(flags)
  const { openControlPlane } = await import('../assembly/control-plane.ts')
  const opened = new Closers()
  try {
    const clock = systemClock
    const nodeId = newId('node')
    return await work(await openControlPlane({ config, clock, nodeId, serving: false, opened }))
  } finally {
    await opened.close()
  }
}
