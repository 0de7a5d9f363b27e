import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { operator } from '../../base/events/events.ts'
import type { TestServer } from '../../testing/test-server.ts'
import type { Validators } from './fetch/fetch-options.ts'
import type { PostgresChoice } from './fetch/fetch-postgres.ts'
import { publishSource } from './publish-source.ts'
import { parseSourceAddress } from './source-address.ts'

/** A server on loopback. Returns its address. */
export async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Wishes extends PostgresChoice {
  headers?: Record<string, string>
  validators?: Validators | undefined
  isOperator?: boolean
  idColumn?: string
}

/** Publishes an address in the process of the test. */
export function publishAddress(service: TestServer, table: string, address: string, wishes: Wishes = {}) {
  const { headers, validators, isOperator = true, idColumn, ...choice } = wishes
  const { credentials, ...parsed } = parseSourceAddress(address, headers)
  const source = { ...parsed, ...choice }
  const publish = { table, description: {}, ...(idColumn && { idColumn }) }
  const request = { source, credentials, isOperator, publish, validators }
  return publishSource(request, operator, service.parts, { signal: new AbortController().signal })
}

/** The features of a dataset as they are published, by the order of their ids. */
export async function featuresOf(service: TestServer, table: string) {
  const { secret: key } = await service.parts.keys.createPlatform(operator, {
    name: 'Reader',
    permissions: ['read'],
  })
  const { body } = await service.request('GET', `/v1/dataset/${table}/files/geojson`, { key })
  return body.features as { id: string | number; geometry: unknown; properties: Record<string, unknown> }[]
}
