import pino, { type Logger } from 'pino'
import { redactSecrets } from '../../redact.ts'

const GATHERED_LENGTH = 64 * 1024
const LONGEST_WAIT = 1000

/** Logs to standard error: standard output is for a command's results. */
export function makeLogger(level: string, write?: (line: string) => void): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorForLog },
    hooks: { streamWrite: redactSecrets },
  }
  return pino(options, write ? { write } : gatherLines())
}

/**
 * Buffers lines to save a write, and a search for secrets, per line. They are flushed after a second at most,
 * which is short enough for a person who watches the log.
 */
function gatherLines(): { write(line: string): void } {
  const destination = pino.destination({ dest: 2, sync: false })
  let text = ''
  const flush = () => {
    if (text === '') return
    destination.write(text)
    text = ''
  }
  setInterval(flush, LONGEST_WAIT).unref()
  process.on('exit', () => {
    flush()
    destination.flushSync()
  })
  return {
    write(line) {
      text += line
      if (text.length >= GATHERED_LENGTH) flush()
    },
  }
}

function errorForLog(error: Error & { code?: unknown }): Record<string, unknown> {
  return {
    type: error.name,
    message: error.message,
    code: error.code,
    stack: error.stack,
    ...(error.cause instanceof Error ? { cause: errorForLog(error.cause) } : {}),
  }
}
