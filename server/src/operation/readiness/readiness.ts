import { access, constants, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { singleFlight } from '@wayleave/geodata/base'
import type { Logger } from 'pino'
import { SECOND } from '../../base/clock.ts'
import { withinTime } from '../../base/concurrency/within-time.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import { readNothing, writeProbe } from '../../base/database/heartbeat-store.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { Blobs } from '../../data/blobs/blobs.ts'
import { newestSnapshot } from '../../data/catalog/store.ts'
import type { CheckReady, FailedCheck } from '../../http/observability/operation-routes.ts'
import { WriteProbe } from './write-probe.ts'

/** Max time of one check, so that `/ready` responds even if something hangs. */
const CHECK_TIMEOUT = 1.5 * SECOND
/** `/ready` is public, so results are cached for this long. */
const FRESH = SECOND
const DISK_AND_SNAPSHOT_FRESH = 5 * SECOND

interface Check {
  name: 'database' | 'write' | 'lease' | 'disk' | 'snapshot'
  /** For the response: says what to check, without revealing addresses, paths or internal messages. */
  sentence: string
  run: () => Promise<void>
}

export interface ReadinessDeps {
  database: ControlDatabase
  changes: Changes
  blobs: Blobs
  dataDir: string
  minFreeBytes: number
  log: Logger
}

export function readiness(parts: ReadinessDeps): CheckReady {
  const checks = checksOf(parts)
  let lastNames = ''
  return remembered(FRESH, async () => {
    const results = await Promise.all(checks.map((check) => runCheck(check, parts.log)))
    const failures = results.filter((failure) => failure !== null)
    const names = failures.map((failure) => failure.check).join(', ')
    if (names !== lastNames) {
      if (names) parts.log.warn(`Not ready: ${names}.`)
      else parts.log.info('Ready again.')
    }
    lastNames = names
    return failures
  })
}

async function runCheck({ name, sentence, run }: Check, log: Logger): Promise<FailedCheck | null> {
  try {
    await withinTime(CHECK_TIMEOUT, run())
    return null
  } catch (error) {
    log.debug({ err: error }, `The check of ${name} failed.`)
    return { check: name, detail: sentence }
  }
}

function checksOf({ database, changes, blobs, dataDir, minFreeBytes }: ReadinessDeps): Check[] {
  const probe = new WriteProbe(() => writeProbe(database.db))
  const checks: Check[] = [
    {
      name: 'database',
      sentence: 'The control database does not respond.',
      run: () => readNothing(database.db),
    },
    { name: 'write', sentence: 'The control database cannot be written.', run: () => probe.check() },
    {
      name: 'disk',
      sentence: `The disk of the data folder has less free space than WAYLEAVE_MIN_FREE_BYTES.`,
      run: remembered(DISK_AND_SNAPSHOT_FRESH, async () => {
        const { bavail, bsize } = await statfs(dataDir)
        if (bavail * bsize < minFreeBytes) throw new Error(`${bavail * bsize} bytes are free.`)
      }),
    },
    {
      name: 'snapshot',
      sentence: 'The files of the newest published version cannot be read.',
      run: remembered(DISK_AND_SNAPSHOT_FRESH, async () => {
        const snapshot = await newestSnapshot(database.db)
        // With a bucket, what is cached is served even if the bucket is unreachable.
        if (snapshot === null || !blobs.isLocal) return
        await access(join(await blobs.localFolder(snapshot), 'manifest.json'), constants.R_OK)
      }),
    },
  ]
  if (database.kind === 'postgres') {
    checks.push({
      name: 'lease',
      sentence: 'This node holds no lease: the control database does not confirm it in time.',
      run: async () => {
        if (!changes.trusted()) throw new Error('The lease has lapsed.')
      },
    })
  }
  return checks
}

/** Single-flight. A success is cached for a while; a failure is not. */
function remembered<T>(milliseconds: number, run: () => Promise<T>): () => Promise<T> {
  let last: { value: T; until: number } | null = null
  const shared = singleFlight(async () => {
    const value = await run()
    last = { value, until: performance.now() + milliseconds }
    return value
  })
  return async () => (last && performance.now() < last.until ? last.value : shared())
}
