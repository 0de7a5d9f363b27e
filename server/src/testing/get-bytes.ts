import type { TestServer } from './test-server.ts'

/** The raw bytes of the response: `fetch` would request an encoding and decode it. */
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
