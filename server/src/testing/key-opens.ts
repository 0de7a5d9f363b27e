import type { TestServer } from './test-server.ts'

/** Whether a node accepts the secret for data requests now. */
export async function keyOpens(service: TestServer, secret: string): Promise<boolean> {
  const { status, body } = await service.request('GET', '/v1/datasets', { key: secret })
  if (status === 200) return true
  if (status === 401 && body.code === 'key-invalid') return false
  throw new Error(`A request with a key answered ${status}.`)
}
