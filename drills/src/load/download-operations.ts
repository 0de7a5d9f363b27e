import { type TablePromise, workingKeys } from '../promises/promises.ts'
import type { World } from '../world.ts'
import {
  differenceFrom,
  featuresDifference,
  type GeoJsonFeature,
  sampleDifference,
  stampIn,
} from './sources.ts'

const FORMATS = ['geojson', 'geojson', 'csv', 'json'] as const

/** A download with an account's key: charged at most once, with the bytes of a promised version. */
export async function download(world: World): Promise<void> {
  const { promises, run } = world
  const keys = workingKeys(promises).filter(({ id }) => !world.busy.has(id))
  const tables = promises.tables.filter(({ versions }) => versions.length > 0)
  if (keys.length === 0 || tables.length === 0) return
  const key = run.random.pick(keys)
  const table = run.random.pick(tables)
  const format = run.random.pick(FORMATS)
  const account = promises.accounts[key.account]!
  const oldest = newestVersion(table)
  await world.exclusively(key.id, async () => {
    const response = await world.sendWithKey(key.id, key.secret, `/v1/dataset/${table.table}/files/${format}`)
    if (response.status !== 200) {
      run.expect(response.status !== 401, `key ${key.name} works until it is revoked`, '401 for a download')
      return
    }
    const amount = Number(response.headers.get('credits-charged') ?? 0)
    if (amount > 0) account.charges.push({ keyId: key.id, table: table.table, format, amount })
    expectWholeVersion(world, table, oldest, `the ${format} file`, stampIn(response.bytes), (stamp) =>
      differenceFrom(promises.sources[stamp]!, format, response.bytes),
    )
  })
}

/** Reads all pages of a table's features. */
export async function readItems(world: World): Promise<void> {
  const { promises, run } = world
  const keys = workingKeys(promises).filter(({ id }) => !world.busy.has(id))
  const tables = promises.tables.filter(
    ({ table, versions }) => versions.length > 0 && !world.busy.has(table),
  )
  if (keys.length === 0 || tables.length === 0) return
  const key = run.random.pick(keys)
  const table = run.random.pick(tables)
  const oldest = newestVersion(table)
  // The table is locked, so that no new version appears between two pages.
  await world.exclusively(table.table, async () => {
    const before = await versionOf(world, table)
    const features: GeoJsonFeature[] = []
    let path: string | null = `/v1/ogc/collections/${table.table}/items?limit=1000`
    while (path) {
      const response = await world.sendWithKey(key.id, key.secret, path)
      if (response.status !== 200) return
      features.push(...response.body.features)
      const next: { href: string } | undefined = response.body.links.find(
        (link: { rel: string }) => link.rel === 'next',
      )
      path = next ? new URL(next.href).pathname + new URL(next.href).search : null
    }
    // An upload with an unknown outcome may be published between two pages.
    if (before === null || (await versionOf(world, table)) !== before) return
    const stamp = features[0]?.properties.stamp ?? null
    expectWholeVersion(world, table, oldest, 'the pages of features', stamp, (one) =>
      featuresDifference(promises.sources[one]!, features),
    )
  })
}

async function versionOf(world: World, { table }: TablePromise): Promise<number | null> {
  const { status, body } = await world.send('GET', `/v1/dataset/${table}`)
  return status === 200 ? body.version : null
}

export async function readSample(world: World): Promise<void> {
  const { promises, run } = world
  const tables = promises.tables.filter(({ versions }) => versions.length > 0)
  if (tables.length === 0) return
  const table = run.random.pick(tables)
  const oldest = newestVersion(table)
  const response = await world.send('GET', `/v1/dataset/${table.table}/sample/json`)
  if (response.status !== 200) return
  expectWholeVersion(world, table, oldest, 'the sample', stampIn(response.bytes), (stamp) =>
    sampleDifference(promises.sources[stamp]!, response.bytes),
  )
}

function newestVersion(table: TablePromise): string | null {
  return table.versions.at(-1)?.stamp ?? null
}

/** A response has exactly one file, and none older than the newest one promised before the request. */
function expectWholeVersion(
  world: World,
  table: TablePromise,
  promisedStamp: string | null,
  what: string,
  stamp: string | null,
  difference: (stamp: string) => string | null,
): void {
  const { run, promises } = world
  const promised = `${what} of ${table.table} is the newest version, whole`
  const isKnown = stamp !== null && stamp in promises.sources
  run.expect(isKnown, promised, 'bytes of no file that was sent')
  if (!isKnown) return
  const mismatch = difference(stamp)
  run.expect(mismatch === null, promised, () => `${stamp}: ${mismatch}`)
  const position = (one: string | null) => table.versions.findIndex((version) => version.stamp === one)
  // A file in no promised version belongs to a publish in progress or with an unknown outcome.
  const isStale = position(stamp) >= 0 && position(stamp) < position(promisedStamp)
  run.expect(!isStale, promised, () => `${stamp}, although ${promisedStamp} was acknowledged before`)
}
