import pino, { type Logger, type LoggerOptions } from 'pino'
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
  /** What every line has. */
  base: object | undefined = undefined,
): Logger {
  const isText = format === 'text' || (format === 'auto' && process.stderr.isTTY)
  const options = logOptions(level, base)
  const destination = write ? { write } : isText ? { write: writeAtOnce } : new LogWriter(2)
  if (!isText) return pino(options, destination)
  return pino(options, { write: (line) => destination.write(textLine(line)) })
}

/** The logger of a serving thread: its lines name the thread, and are given to the first one, which writes them. */
export function makeThreadLogger(level: string, thread: number, send: (lines: Buffer) => void): Logger {
  const writer = new LogWriter(send)
  return pino(logOptions(level, { thread }), writer)
}

/** Writes the lines that another thread sent, in the format of this thread's logger. */
export function writeLines(log: Logger, lines: Uint8Array): void {
  const stream = (log as unknown as Record<symbol, LogStream>)[pino.symbols.streamSym]!
  if (stream instanceof LogWriter) stream.writeLines(lines)
  else
    for (const line of Buffer.from(lines)
      .toString()
      .split(/(?<=\n)/))
      stream.write(line)
}

interface LogStream {
  write(line: string): void
}

/** A person who watches expects a line when it happens. */
function writeAtOnce(line: string): void {
  process.stderr.write(line)
}

function logOptions(level: string, base: object | undefined): LoggerOptions {
  return {
    level,
    base: base as LoggerOptions['base'],
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorForLog },
    hooks: { streamWrite: redactSecrets },
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
