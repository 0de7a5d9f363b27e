import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { operator } from '../../base/events/events.ts'
import type { PublishRequest } from '../../data/publishing/publish-request.ts'
import {
  type Answer,
  openTestServer,
  type RequestOptions,
  type TestServer,
  type TestSettings,
} from '../../testing/test-server.ts'
import { geojsonText } from './random-places.ts'

export interface OgcService extends TestServer {
  /** A platform key with permission to read everything. */
  key: string
  publish(table: string, features: object[], more?: Partial<PublishRequest>): Promise<void>
  /** GET a path below `/v1/ogc`, with the key. */
  get(path: string, options?: RequestOptions): Promise<Answer>
  /** The same without reading the body. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** All features of a query, by following the `next` links. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into features of every shape.
  readAll(path: string): Promise<any[]>
}

/** A service with a key that can read, for tests of the routes below /v1/ogc. */
export async function openOgc(t: TestContext, options: TestSettings = {}): Promise<OgcService> {
  const service = await openTestServer(t, options)
  const created = await service.parts.keys.createPlatform(operator, { name: 'test', permissions: ['read'] })
  const key = created.secret
  const get = (path: string, options: RequestOptions = {}) =>
    service.request('GET', `/v1/ogc${path}`, { key, ...options })
  return {
    ...service,
    key,
    get,
    fetch: (path, init = {}) =>
      fetch(`${service.url}/v1/ogc${path}`, {
        ...init,
        headers: { 'x-api-key': key, ...(init.headers as Record<string, string>) },
      }),
    publish: (table, features, more = {}) => publish(service, table, features, more),
    readAll: async (path) => {
      const all = []
      for (let next: string | undefined = path; next !== undefined; ) {
        const { status, body, text } = await get(next)
        if (status !== 200) throw new Error(`${next} answered ${status}: ${text}`)
        all.push(...body.features)
        const link = body.links.find(({ rel }: { rel: string }) => rel === 'next')
        next = link?.href.slice(`${service.url}/v1/ogc`.length)
      }
      return all
    },
  }
}

async function publish(
  service: TestServer,
  table: string,
  features: object[],
  more: Partial<PublishRequest>,
): Promise<void> {
  const folder = join(service.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${table}.geojson`)
  writeFileSync(path, geojsonText(features))
  await service.parts.publishing.publish({ table, path, description: {}, ...more }, operator)
}

export function point(longitude: number, latitude: number, properties: object, id?: string | number) {
  return {
    type: 'Feature',
    ...(id === undefined ? {} : { id }),
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties,
  }
}
