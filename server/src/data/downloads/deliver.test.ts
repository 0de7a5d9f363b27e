import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import { pino } from 'pino'
import { Problem } from '../../base/problem.ts'
import { type Account, grantOf } from '../../testing/account.ts'
import type { Dataset } from '../catalog/dataset.ts'
import { VersionRemoved } from '../catalog/version-removed.ts'
import { type DownloadRequest, Downloads } from './downloads.ts'
import { toExportFile } from './exports/export-file.ts'

const dataset = {
  visibility: 'public',
  owner: null,
  table: 'places',
  version: 1,
  snapshot: 'places-1',
  createdAt: '2026-11-15T12:00:00Z',
  manifest: { geometryType: null, tiles: false } as Dataset['manifest'],
  credits: 5,
} as Dataset

const format = exportFormatsOf(dataset.manifest).find((entry) => entry.format === 'csv')!
const file = toExportFile(
  { dataset, version: dataset, format, encoding: 'identity' },
  {
    bytes: 10,
    sha256: 'ab'.repeat(32),
    open: async () => ({ read: async () => ({ bytesRead: 0 }), close: async () => {} }) as never,
    localPath: '/data/snapshots/places-1/exports/places.csv',
    signedAddress: async () => 'https://bucket.example.org/places.csv',
  },
)

interface Situation {
  /** Whether the file exists before the request. */
  isBuilt?: boolean
  canPay?: boolean
  fails?: 'build' | 'send'
  /** How often the version is removed while its file is built. */
  removals?: number
  downloads?: 'stream' | 'redirect' | 'accel'
}

/** The steps of a delivery, in order, without a server, a database or a file. */
async function stepsOf(situation: Situation, changes: Partial<DownloadRequest> = {}): Promise<string[]> {
  const { isBuilt = false, canPay = true, fails, downloads = 'stream' } = situation
  let { removals = 0 } = situation
  const steps: string[] = []
  const watched: Promise<unknown>[] = []
  const refusal = canPay ? null : new Problem('credits-exhausted')
  const get = async () => {
    if (isBuilt) return file
    steps.push('build')
    if (fails === 'build') throw new Problem('build-failed')
    if (removals-- > 0) throw new Error('ENOENT')
    return file
  }
  const rule = new Downloads({
    clock: () => new Date(),
    catalog: {
      withCurrent: (current, work) =>
        work(current).catch((error: unknown) => {
          if (!(error instanceof VersionRemoved)) throw error
          return work({ ...current, version: 2 })
        }),
    },
    cashier: {
      charge: async ({ call, version, price }) => {
        if (refusal) throw refusal
        steps.push(`charge ${price} for ${call.operation} of version ${version}`)
        return { charged: price, remaining: 0, refund: async () => void steps.push('refund') }
      },
      refusalOf: async () => refusal,
      hasBought: async () => false,
      watch: (delivery) => {
        watched.push(delivery)
        return delivery
      },
    },
    exports: {
      peek: () => undefined,
      find: async () => (isBuilt ? file : undefined),
      get,
      getStored: get,
      forget: () => {},
      forgetDamaged: async () => false,
    },
    health: {
      require: async () => {},
      removalOr: async (version, error) =>
        error instanceof Problem ? error : new VersionRemoved(version, error),
      problemOf: async (_version, error) => error,
    },
    log: pino({ level: 'silent' }),
    config: { downloads, downloadLinkSeconds: 60, trustedProxies: ['10.0.0.1'] },
    blobs: { localFolder: async (snapshot) => `/data/snapshots/${snapshot}` },
  })
  const delivery = rule.deliver(
    {
      grant: grantOf({ keyId: 'key', organizationId: 'ada' } as Account),
      dataset,
      archived: null,
      format: 'csv',
      http: { method: 'GET', headers: {} },
      requestId: 'request',
      ...changes,
    },
    {
      respond: ({ status, headers }) =>
        void steps.push(`respond ${status} ${headers['x-accel-redirect'] ?? ''}`.trim()),
      send: async (_opened, { status, range }) => {
        steps.push(`send ${status}, bytes ${range.start} to ${range.end}`)
        if (fails === 'send') throw new Error('a read failed')
      },
    },
  )
  await delivery.catch((error: unknown) => steps.push(error instanceof Problem ? error.code : String(error)))
  await Promise.allSettled(watched)
  return steps
}

const get = (headers: Record<string, string>) => ({ http: { method: 'GET', headers } })
const CHARGE = 'charge 5 for download of version 1'

test('a download is charged before its file is built, and built before it is sent', async () => {
  assert.deepEqual(await stepsOf({}), [CHARGE, 'build', 'send 200, bytes 0 to 10'])
  assert.deepEqual(await stepsOf({ isBuilt: true }), [CHARGE, 'send 200, bytes 0 to 10'])
  assert.deepEqual(await stepsOf({ canPay: false }), ['credits-exhausted'])
})

test('HEAD, 304 and 416 are free, and build only for a caller who could pay', async () => {
  const head = { http: { method: 'HEAD', headers: {} } }
  const cached = get({ 'if-none-match': file.etag })
  const beyond = get({ range: 'bytes=10-' })
  for (const [request, response] of [
    [head, 'respond 200'],
    [cached, 'respond 304'],
    [beyond, 'range-not-satisfiable'],
  ] as const) {
    assert.deepEqual(await stepsOf({}, request), ['build', response])
    assert.deepEqual(await stepsOf({ isBuilt: true, canPay: false }, request), [response])
  }
  assert.deepEqual(await stepsOf({ canPay: false }, head), ['respond 200'])
  assert.deepEqual(await stepsOf({ canPay: false }, cached), ['credits-exhausted'])
  const since = get({ 'if-modified-since': file.lastModified.toUTCString() })
  assert.deepEqual(await stepsOf({ canPay: false }, since), ['respond 304'])
})

test('a range, or a condition that does not hold, is charged once the file exists', async () => {
  assert.deepEqual(await stepsOf({}, get({ range: 'bytes=2-4' })), [
    'build',
    CHARGE,
    'send 206, bytes 2 to 5',
  ])
  assert.deepEqual(await stepsOf({}, get({ 'if-none-match': '"x"' })), [
    'build',
    CHARGE,
    'send 200, bytes 0 to 10',
  ])
})

test('a file that cannot be built or sent is refunded', async () => {
  assert.deepEqual(await stepsOf({ fails: 'build' }), [CHARGE, 'build', 'refund', 'build-failed'])
  assert.deepEqual(await stepsOf({ fails: 'send' }), [CHARGE, 'build', 'send 200, bytes 0 to 10', 'refund'])
})

test('a version that is removed meanwhile is refunded, and the next one is charged', async () => {
  const next = 'charge 5 for download of version 2'
  const first = [CHARGE, 'build', 'refund']
  assert.deepEqual(await stepsOf({ removals: 1 }), [...first, next, 'build', 'send 200, bytes 0 to 10'])
  assert.deepEqual(await stepsOf({ removals: 2 }), [...first, next, 'build', 'refund', 'export-not-ready'])
  const grant = { ...grantOf({} as Account), addOns: new Set(['ARCHIVED_DATA']) }
  const archive = ['charge 5 for archive of version 1', 'build', 'refund', 'not-found']
  assert.deepEqual(await stepsOf({ removals: 1 }, { grant, archived: dataset }), archive)
})

test('a redirect is charged, and a script, or a client that resumes by our tag, is sent the file', async () => {
  const redirect = { isBuilt: true, downloads: 'redirect' } as const
  assert.deepEqual(await stepsOf(redirect), [CHARGE, 'respond 307'])
  const script = get({ origin: 'https://example.org' })
  assert.deepEqual(await stepsOf(redirect, script), [CHARGE, 'send 200, bytes 0 to 10'])
  const resumed = get({ range: 'bytes=5-', 'if-range': file.etag })
  assert.deepEqual(await stepsOf(redirect, resumed), [CHARGE, 'send 206, bytes 5 to 10'])
})

test('a caller without the right is refused before anything is charged', async () => {
  const grant = grantOf({} as Account)
  assert.deepEqual(await stepsOf({}, { grant: { ...grant, permissions: new Set() } }), ['permission-missing'])
  assert.deepEqual(await stepsOf({}, { grant: { ...grant, addOns: new Set() } }), ['add-on-missing'])
  assert.deepEqual(await stepsOf({}, { archived: dataset }), ['add-on-missing'])
  assert.deepEqual(await stepsOf({}, { format: 'shapefile' }), ['not-found'])
})

test('a proxy sends what was charged, to clients that came through it, and only what it sends as the service would', async () => {
  const situation = { isBuilt: true, downloads: 'accel' } as const
  const charge = 'charge 5 for download of version 1'
  const through = (headers: Record<string, string>, remoteAddress = '10.0.0.1') =>
    stepsOf(situation, { http: { method: 'GET', headers, socket: { remoteAddress } } })
  const byProxy = [charge, 'respond 200 /wayleave-files/places-1/exports/places.csv']
  assert.deepEqual(await through({}), byProxy)
  assert.deepEqual(await through({ range: 'bytes=2-3', 'if-range': '"x"' }), byProxy)
  assert.deepEqual(await through({}, '10.0.0.2'), [charge, 'send 200, bytes 0 to 10'])
  assert.deepEqual(await through({ 'if-match': '"x"' }), [charge, 'send 200, bytes 0 to 10'])
  const streamed = await stepsOf(
    { isBuilt: true },
    { http: { method: 'GET', headers: {}, socket: { remoteAddress: '10.0.0.1' } } },
  )
  assert.deepEqual(streamed, [charge, 'send 200, bytes 0 to 10'])
})
