/** A request whose cost a client chose to be as high as possible. */
export interface HostileRequest {
  name: string
  /** Whether the service is expected to refuse it. */
  isRefused: boolean
  /** The bytes that are sent. If there are several texts, connections take them in turn. */
  texts: readonly string[]
}

export function legal(name: string, ...texts: string[]): HostileRequest {
  return { name, isRefused: false, texts }
}

export function refused(name: string, ...texts: string[]): HostileRequest {
  return { name, isRefused: true, texts }
}

export function get(path: string, headers = ''): string {
  const host = headers.startsWith('Host:') ? '' : 'Host: 127.0.0.1\r\n'
  return `GET ${encodeURI(path)} HTTP/1.1\r\n${host}${headers}\r\n`
}

export function post(path: string, headers: string, body: string): string {
  return sent('POST', path, headers, body)
}

export function sent(
  method: string,
  path: string,
  headers: string,
  body: string,
  type = 'application/json',
): string {
  const length = Buffer.byteLength(body)
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${body}`
}

export function numbered(count: number, text: (i: number) => string, separator = ','): string {
  return Array.from({ length: count }, (_, i) => text(i)).join(separator)
}
