import pino, { type Logger } from 'pino'

/**
 * Matches anything that has the form of one of our secrets, anywhere in a line: a key, a sign-in or refresh
 * token (43 or more base64url characters after a telling name), a JWT, credentials in a URL. Handlers never
 * log secrets; this is the safety net.
 */
const SECRETS =
  /\b[a-z][a-z0-9]{0,9}_[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{32}\b|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+|(?<=:\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)|(?<=(?:token|secret|authorization|api_key|cookie)["=:\s]{1,4})[\w.+/=-]{6,}|(?<=code["=:\s]{1,4})\d{6}\b/gi

export function redact(line: string): string {
  return line.replace(SECRETS, '[redacted]')
}

const GATHERED_LENGTH = 64 * 1024
const LONGEST_WAIT = 1000

/** Logs to standard error: standard output is for a command's results. */
export function makeLogger(level: string, write?: (line: string) => void): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorForLog },
    hooks: { streamWrite: redact },
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
