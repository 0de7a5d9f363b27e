import pino, { type Logger } from 'pino'
import { redactSecrets } from '../../redact.ts'
import { textLine } from './text-lines.ts'

const GATHERED_LENGTH = 64 * 1024
const LONGEST_WAIT = 1000

/** `auto`: text on a terminal, otherwise JSON. */
export type LogFormat = 'auto' | 'json' | 'text'

/** Logs to standard error: standard output is for a command's results. */
export function makeLogger(
  level: string,
  write?: (line: string) => void,
  format: LogFormat = write ? 'json' : 'auto',
): Logger {
  const isText = format === 'text' || (format === 'auto' && process.stderr.isTTY)
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorForLog },
    hooks: { streamWrite: redactSecrets },
  }
  const destination = write ? { write } : isText ? { write: writeAtOnce } : gatherLines()
  if (!isText) return pino(options, destination)
  return pino(options, { write: (line) => destination.write(textLine(line)) })
}

/** A person who watches expects a line when it happens. */
function writeAtOnce(line: string): void {
  process.stderr.write(line)
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
