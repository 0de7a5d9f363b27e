import type { Logger } from 'pino'
import { SECOND } from '../clock.ts'
import { withinTime } from '../concurrency/within-time.ts'
import { useTracing } from './tracing.ts'

/** Max time for sending the traces of the last requests. */
const TRACES_DEADLINE = 3 * SECOND

/** Returns a function that sends the last traces; a receiver that does not respond cannot delay a stop for long. */
export async function startTracing(log: Logger): Promise<() => Promise<void>> {
  const { openTelemetry } = await import('./open-telemetry.ts')
  const { tracing, close } = openTelemetry(log)
  useTracing(tracing)
  return () =>
    withinTime(TRACES_DEADLINE, close()).catch((error: unknown) =>
      log.warn({ err: error }, 'The last traces could not be sent.'),
    )
}
