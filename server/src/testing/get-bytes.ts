import type { TestServer } from './test-server.ts'

/** The bytes as they travel: `fetch` would ask for an encoding, and unpack it. */
export async function getBytes(
  service: TestServer,
  path: string,
  key: string,
  headers: Record<string, string> = {},
  method = 'GET',
) {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': key, 'accept-encoding': 'identity', ...headers },
  })
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  }
}
