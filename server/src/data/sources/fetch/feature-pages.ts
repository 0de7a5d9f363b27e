import { join } from 'node:path'
import { SourceError } from '@wayleave/geodata/compile'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'
import { SourceFile } from './source-file.ts'
import { DocumentTooLargeError } from './source-http.ts'

export interface PageFeature {
  type: 'Feature'
  id?: string | number
  geometry: unknown
  properties: Record<string, unknown> | null
}

/** Pages of a service, which together have all features. */
export type FeaturePages = AsyncIterable<PageFeature[]>

/** Writes the features of all pages to one GeoJSON file. */
export async function writeFeaturePages(
  pages: FeaturePages,
  name: string,
  options: FetchOptions,
): Promise<FetchedSource> {
  const file = await SourceFile.create(join(options.folder, 'source'), options)
  try {
    await file.write('{"type":"FeatureCollection","features":[')
    let separator = '\n'
    for await (const page of pages) {
      options.signal.throwIfAborted()
      if (page.length === 0) continue
      await file.write(separator + page.map(featureText).join(',\n'))
      separator = ',\n'
    }
    await file.write('\n]}\n')
    const validators = { etag: null, lastModified: null, checksum: file.checksum() }
    return { path: file.path, file: `${name}.geojson`, bytes: file.bytes, validators }
  } finally {
    await file.close()
  }
}

/** Only what GeoJSON defines: links and boxes of single features are not data. */
function featureText({ id, geometry, properties }: PageFeature): string {
  return JSON.stringify({ type: 'Feature', id, geometry: geometry ?? null, properties: properties ?? {} })
}

/** Features a page. */
const MAX_PAGE = 1000

/** How many features to ask for: fewer if a page of so many was too large. */
export class PageSize {
  features: number
  isReduced = false

  /** `max` is what a service says, which may be anything. */
  constructor(max: unknown = MAX_PAGE) {
    this.features = typeof max === 'number' && max >= 1 ? Math.min(MAX_PAGE, Math.floor(max)) : MAX_PAGE
  }

  /** Repeats the request with half as many features while the response is too large. */
  async fit<T>(request: (features: number) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request(this.features)
      } catch (error) {
        if (!(error instanceof DocumentTooLargeError) || this.features === 1) throw error
        this.features = Math.ceil(this.features / 2)
        this.isReduced = true
      }
    }
  }
}

/** A service that says how many features it has must have sent so many. */
export function requireComplete(received: number, expected: number | null, name: string): void {
  if (expected !== null && received !== expected)
    throw new SourceError(
      `${name} has ${expected} features, and its pages have ${received}: nothing was published. It may have changed meanwhile.`,
    )
}
