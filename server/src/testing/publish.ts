import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operator } from '../base/events/events.ts'
import type { PublishReport, PublishRequest } from '../data/publishing/publish-request.ts'
import type { TestServer } from './test-server.ts'

/** Publishes a text as a file with the given name. */
export async function publishText(
  service: TestServer,
  table: string,
  file: string,
  content: string | Buffer,
  options: Partial<PublishRequest> = {},
): Promise<PublishReport> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-publish-'))
  const path = join(folder, file)
  writeFileSync(path, content)
  try {
    const request = { table, path, description: {}, ...options }
    return await service.parts.publishing.publish(request, operator)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `count` points along a diagonal, each with a number and a name. */
export function points(count: number, label = 'Point'): string {
  const features = Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      type: 'Feature',
      properties: { number: i, name: `${label} ${i}`, half: i / 2 },
      geometry: { type: 'Point', coordinates: [(i % 360) - 180, (i % 180) - 90] },
    }),
  )
  return `{"type":"FeatureCollection","features":[${features.join(',\n')}]}`
}
