/** A request whose cost a client chose to be as high as possible, as the bytes that are sent. */
export interface HostileRequest {
  name: string
  /** Whether the service is expected to refuse it. */
  isRefused: boolean
  text: string
}

export function legal(name: string, text: string): HostileRequest {
  return { name, isRefused: false, text }
}

export function refused(name: string, text: string): HostileRequest {
  return { name, isRefused: true, text }
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
