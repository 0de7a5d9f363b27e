import { systemClock } from '../clock.ts'
import { Closers } from '../closers.ts'
import type { ControlPlane } from '../control-plane.ts'
import { newId } from '../id.ts'
import { runningServerAddress } from '../server-address.ts'
import type { Parts } from '../wiring.ts'
import { serviceConfig } from './service-config.ts'

// The modules of a command are loaded when it runs: help and usage errors are printed at once, and listing
// organizations does not load the data engine.

/**
 * Opens the parts of the service for one command, without serving. A server may run at the same time: it
 * applies the command's changes from its next request on. `newServiceConfig` is for commands that may come first.
 */
export async function withParts<T>(
  flags: { dataDir?: string },
  work: (parts: Parts) => Promise<T>,
  configOf = serviceConfig,
): Promise<T> {
  const config = configOf(flags)
  const { makeLogger } = await import('../http/observability/logger.ts')
  const { openParts } = await import('../wiring.ts')
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
  configOf = serviceConfig,
): Promise<T> {
  const config = configOf(flags)
  const { openControlPlane } = await import('../control-plane.ts')
  const opened = new Closers()
  try {
    const clock = systemClock
    const nodeId = newId('node')
    return await work(await openControlPlane({ config, clock, nodeId, serving: false, opened }))
  } finally {
    await opened.close()
  }
}
