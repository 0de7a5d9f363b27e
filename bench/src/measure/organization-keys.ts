import { setTimeout as delay } from 'node:timers/promises'
import type { WayleaveServer } from './wayleave-server.ts'

/** The secrets of keys that may publish, of the organization of a user, which gets the dataset `table`. */
export async function createOrganizationKeys(
  { origin, operate }: WayleaveServer,
  token: string,
  { count, table }: { count: number; table: string },
): Promise<string[]> {
  const ask = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await fetch(origin + path, init)
    if (!response.ok) throw new Error(`${path} is ${response.status}`)
    return (await response.json()) as T
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { data } = await ask<{ data: { id: string }[] }>('/v1/organizations', { headers })
  const { id } = data[0]!
  await operate('org', 'publishing', id, '--allow')
  const keys: string[] = []
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ name: `Bench ${i}`, permissions: ['read', 'write'] })
    const path = `/v1/api-keys/organization/${id}`
    keys.push((await ask<{ secret: string }>(path, { method: 'POST', headers, body })).secret)
  }
  const upload = { method: 'PUT', headers: { 'x-api-key': keys[0]! }, body: 'n\n1\n' }
  const job = await ask<{ id: string }>(`/v1/dataset/${table}?filename=a.csv`, upload)
  for (;;) {
    const { state } = await ask<{ state: string }>(`/v1/jobs/${job.id}`, { headers: upload.headers })
    if (state === 'done') return keys
    if (state === 'failed') throw new Error(`${table} was not published`)
    await delay(50)
  }
}
