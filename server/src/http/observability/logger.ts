import pino, { type Logger } from 'pino'
import { redactSecrets } from '../../base/redact.ts'
import { LogWriter } from './log-writer.ts'
import { textLine } from './text-lines.ts'

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
  const destination = write ? { write } : isText ? { write: writeAtOnce } : new LogWriter(2)
  if (!isText) return pino(options, destination)
  return pino(options, { write: (line) => destination.write(textLine(line)) })
}

/** A person who watches expects a line when it happens. */
function writeAtOnce(line: string): void {
  process.stderr.write(line)
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
