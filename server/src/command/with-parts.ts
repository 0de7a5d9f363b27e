import { systemClock } from '../clock.ts'
import { readConfig } from '../config.ts'
import { makeLogger } from '../http/logger.ts'
import { openParts, type Parts } from '../wiring.ts'

/**
 * Opens what the service is made of, without serving, for one command. A server beside it may run: what the
 * command changes holds for its next request.
 */
export async function withParts<T>(
  flags: { dataDir?: string },
  work: (parts: Parts) => Promise<T>,
): Promise<T> {
  const config = readConfig({ flags: { dataDir: flags.dataDir } })
  const quiet = config.logLevel === 'silent' ? 'silent' : 'warn'
  const parts = await openParts({ config, log: makeLogger(quiet), clock: systemClock, serving: false })
  try {
    return await work(parts)
  } finally {
    await parts.close()
  }
}
