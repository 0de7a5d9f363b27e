import pino, { type Logger } from 'pino'

/**
 * Anything that has the form of one of our secrets, wherever in a line it stands: a key, a token of sign-in
 * or refresh (43 base64url characters and more after a telling name), a JWT, credentials in a URL. Handlers
 * never log secrets; this is the net beneath them.
 */
const SECRETS =
  /\b[a-z][a-z0-9]{0,9}_[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{32}\b|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+|(?<=:\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)|(?<=(?:token|secret|authorization|api_key|cookie)["=:\s]{1,4})[\w.+/=-]{6,}|(?<=code["=:\s]{1,4})\d{6}\b/gi

export function redact(line: string): string {
  return line.replace(SECRETS, '[redacted]')
}

/** Lines go to standard error: standard output is for what a command answers. */
export function makeLogger(level: string, write?: (line: string) => void): Logger {
  const destination = pino.destination({ dest: 2, sync: false, minLength: 4096 })
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorForLog },
    hooks: { streamWrite: redact },
  }
  if (write) return pino(options, { write })
  const logger = pino(options, destination)
  // Lines are gathered to spare a write for each; a second is as long as a person waits for one.
  setInterval(() => destination.flush(), 1000).unref()
  process.on('exit', () => destination.flushSync())
  return logger
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
