const LEVELS: Record<number, string> = { 20: 'debug: ', 40: 'warning: ', 50: 'error: ', 60: 'error: ' }
/** Fields that the text shows in another place, or that only programs need. */
const HIDDEN = new Set(['level', 'time', 'msg', 'requestId', 'err'])

/**
 * A line of the log for people, such as `14:03:07 GET /v1/datasets 200 3.1 ms`, made of the line for programs. The
 * time is local. Control characters, which a client may put into a path, are escaped: a terminal would obey them.
 */
export function textLine(jsonLine: string): string {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(jsonLine)
  } catch {
    return `${escaped(jsonLine.trimEnd())}\n`
  }
  const time = new Date(String(entry['time'])).toTimeString().slice(0, 8)
  const message = escaped(entry['msg'] === 'request' ? requestText(entry) : messageText(entry))
  return `${time} ${LEVELS[Number(entry['level'])] ?? ''}${message}${stackText(entry)}\n`
}

function requestText({ method, path, status, ms, brokenOff }: Record<string, unknown>): string {
  return `${method} ${path} ${status} ${ms} ms${brokenOff ? ', broken off by the client' : ''}`
}

function messageText(entry: Record<string, unknown>): string {
  const fields = Object.entries(entry)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [entry['msg'] ?? '', ...fields].join(' ').trim()
}

/** A stack begins with the type and the message of the error. */
function stackText({ err }: Record<string, unknown>): string {
  const { stack, message } = (err ?? {}) as { message?: string; stack?: string }
  const lines = (stack ?? message ?? '').split('\n').filter((line) => line !== '')
  return lines.map((line) => `\n  ${escaped(line)}`).join('')
}

function escaped(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}
