import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileSnapshot } from '../../compile/compile.ts'
import type { Column, Feature, FeatureStream, Geometry, SourceColumn, Value } from '../../feature.ts'
import type { Manifest } from '../../snapshot/manifest.ts'

export interface FixtureFeature {
  geometry?: Geometry | null
  properties: { [name: string]: Value }
  id?: string | number
}

export interface Fixture {
  folder: string
  manifest: Manifest
  columns: Column[]
}

/** A temporary folder that is removed at the end of the test. */
export async function temporaryFolder(after: (remove: () => Promise<void>) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-exports-'))
  after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Compiles features that a test has in memory. */
export async function compileFeatures(folder: string, features: FixtureFeature[]): Promise<Fixture> {
  const names = [...new Set(features.flatMap(({ properties }) => Object.keys(properties)))]
  const spatial = features.some(({ geometry }) => geometry !== undefined)
  const columns: SourceColumn[] = names.map((name) => ({ name, type: 'infer-json' }))
  const rows: Feature[] = features.map(({ geometry, properties, id }, i) => ({
    id: id ?? null,
    values: names.map((name) => properties[name] ?? null),
    geometry: geometry ?? null,
    row: i + 1,
  }))
  const stream: FeatureStream = {
    columns,
    spatial,
    crs: 'OGC:CRS84',
    bytesRead: 0,
    totalBytes: null,
    notes: [],
    async *batches() {
      yield rows
    },
  }
  const { manifest } = await compileSnapshot({ path: 'fixture', folder }, undefined, undefined, {
    stream,
    format: 'geojson',
    bytes: 0,
  })
  return { folder, manifest, columns: manifest.columns }
}
