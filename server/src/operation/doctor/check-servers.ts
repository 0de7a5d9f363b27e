import { Redis } from 'ioredis'
import nodemailer from 'nodemailer'
import { SECOND } from '../../base/clock.ts'
import { randomBase62 } from '../../base/id.ts'
import { requiresTls } from '../../base/mail/smtp-mailer.ts'
import type { Config } from '../../base/settings/config.ts'
import { isBucket, openBucket } from '../../base/storage/open-store.ts'
import { openRowReader } from '../backup/rows/open-row-reader.ts'
import { readDatabaseMark } from '../backup/rows/postgres-mark-store.ts'
import { postgresClock, runningNodes } from '../backup/rows/postgres-rows-store.ts'
import { sqliteFile } from '../backup/rows/sqlite-rows-store.ts'
import { latestSchemaVersion } from '../backup/rows/table-shapes-store.ts'
import { type Check, ok, problem, warning } from './check.ts'

const TIMEOUT = 5 * SECOND
/** Leases and expiry times are compared across machines. */
const MAX_SKEW = 2 * SECOND

export async function checkDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  exists: (path: string) => boolean,
): Promise<Check> {
  if (!config.databaseUrl && !exists(sqliteFile(config.dataDir))) {
    return warning(
      'schema',
      'There is no control database yet.',
      'The first start makes it, or "wayleave restore".',
    )
  }
  const name = config.databaseUrl ? 'PostgreSQL' : 'SQLite'
  try {
    const mark = config.databaseUrl ? await readDatabaseMark(config.databaseUrl) : null
    if (mark)
      return problem(
        'schema',
        `A restore into the PostgreSQL database, begun at ${mark.at}, has not finished.`,
        `Wait for it, or run it again: ${mark.command}`,
      )
    const reader = await openRowReader(config)
    const { schemaVersion } = reader
    await reader.close()
    const latest = latestSchemaVersion()
    if (schemaVersion === latest) return ok('schema', `The ${name} database is at version ${schemaVersion}.`)
    return warning(
      'schema',
      `The ${name} database is at version ${schemaVersion}, and this program uses ${latest}.`,
      'The next start migrates it, and there is no way back: make a backup first.',
    )
  } catch (error) {
    return problem(
      'schema',
      (error as Error).message,
      'See that the database runs and that its address is right.',
    )
  }
}

/** Writes, reads and deletes an object, which needs all permissions that the service needs. */
export async function checkStorage(config: Config): Promise<Check | null> {
  if (!isBucket(config)) return null
  const bucket = await openBucket(config)
  const options = { patienceMs: TIMEOUT }
  const key = `doctor/${randomBase62(12)}`
  try {
    await bucket.write(key, Buffer.from('doctor'), options)
    const content = await bucket.read(key, { from: 0, to: 6 }, options)
    await bucket.listFolders('snapshots/', options)
    await bucket.delete([key], options)
    if (content.toString() !== 'doctor') throw new Error('The bucket returned other bytes than were written.')
    return ok('storage', `${bucket.location} can be read and written.`)
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? ` ${cause.message}.` : ''
    return problem(
      'storage',
      `${bucket.location} cannot be used: ${message}${reason}`,
      'Check WAYLEAVE_STORAGE_URL, WAYLEAVE_S3_ENDPOINT, WAYLEAVE_S3_REGION and the credentials.',
    )
  } finally {
    await bucket.close()
  }
}

export async function checkNodes({ databaseUrl }: Pick<Config, 'databaseUrl'>): Promise<Check | null> {
  if (!databaseUrl) return null
  try {
    const nodes = await runningNodes(databaseUrl)
    return ok('nodes', `${nodes.length} ${nodes.length === 1 ? 'node serves' : 'nodes serve'} now.`)
  } catch {
    return null
  }
}

export async function checkClock(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  now: () => number,
): Promise<Check> {
  if (!databaseUrl) return ok('clock', `It is ${new Date(now()).toISOString()} here.`)
  try {
    const sent = now()
    const there = (await postgresClock(databaseUrl)).getTime()
    // The database read its clock at some time between the two.
    const skew = Math.max(0, sent - there, there - now())
    const seconds = (skew / SECOND).toFixed(1)
    if (skew <= MAX_SKEW) return ok('clock', `This machine’s clock and the database’s agree to ${seconds} s.`)
    return problem(
      'clock',
      `This machine’s clock is ${seconds} s from the database’s.`,
      'Run NTP on both machines.',
    )
  } catch (error) {
    return problem(
      'clock',
      `The database’s clock is not known: ${(error as Error).message}.`,
      'Start the database.',
    )
  }
}

/** Connects and authenticates, but sends nothing. */
export async function checkMail({
  smtpUrl,
  smtpAllowPlain,
  dataDir,
}: Pick<Config, 'smtpUrl' | 'smtpAllowPlain' | 'dataDir'>): Promise<Check> {
  if (!smtpUrl) return ok('mail', `No mail server is set: mails are written to ${dataDir}/outbox.`)
  const transport = nodemailer.createTransport({
    url: smtpUrl,
    requireTLS: requiresTls(smtpUrl, smtpAllowPlain),
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.verify()
    return ok('mail', 'The mail server takes mails.')
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    const detail = [code, responseCode].filter((part) => part !== undefined).join(' ')
    return problem(
      'mail',
      `The mail server refuses mails or is unreachable (${detail}).`,
      'Check WAYLEAVE_SMTP_URL.',
    )
  } finally {
    transport.close()
  }
}

export async function checkRedis({
  redisUrl,
  databaseUrl,
}: Pick<Config, 'redisUrl' | 'databaseUrl'>): Promise<Check> {
  if (!redisUrl) {
    const text = 'No Redis is set: each process counts limits for itself.'
    return databaseUrl
      ? warning('redis', text, 'Set WAYLEAVE_REDIS_URL if several nodes serve.')
      : ok('redis', text)
  }
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: TIMEOUT,
    commandTimeout: TIMEOUT,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    await redis.ping()
    return ok('redis', 'Redis responds.')
  } catch (error) {
    return problem(
      'redis',
      `Redis does not respond: ${(error as Error).message}.`,
      'Check WAYLEAVE_REDIS_URL.',
    )
  } finally {
    redis.disconnect()
  }
}
