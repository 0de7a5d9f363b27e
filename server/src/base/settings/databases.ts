import { boolean, integer, url } from './parsers.ts'
import { setting } from './setting.ts'

/** PostgreSQL, Redis, and the checks of clock and disk. */
export const databasesSettings = {
  databaseUrl: setting(
    'WAYLEAVE_DATABASE_URL',
    null as string | null,
    url('postgres:', 'postgresql:'),
    'A PostgreSQL database for the control plane (postgres://…). Without it, SQLite in the data folder.',
    { secret: true },
  ),
  databaseTimeout: setting(
    'WAYLEAVE_DATABASE_TIMEOUT',
    10,
    integer(1, 600),
    'Seconds after which a statement on PostgreSQL has failed, also if the connection is dead without a sign.',
  ),
  redisUrl: setting(
    'WAYLEAVE_REDIS_URL',
    null as string | null,
    url('redis:', 'rediss:'),
    'A Redis server that holds the rate limits of all nodes. Without it, and while it is unreachable, each process counts for itself.',
    { secret: true },
  ),
  maxClockSkew: setting(
    'WAYLEAVE_MAX_CLOCK_SKEW',
    300,
    integer(1, 31_536_000),
    'Seconds that the clock of the machine may differ from that of PostgreSQL, or be behind the last run. Beyond that the server does not start.',
  ),
  acceptClock: setting(
    'WAYLEAVE_ACCEPT_CLOCK',
    false,
    boolean(),
    'Believe the clock of the machine whatever the last run says. For one start, after a clock was set right.',
  ),
  minFreeBytes: setting(
    'WAYLEAVE_MIN_FREE_BYTES',
    100 * 1024 ** 2,
    integer(0, Number.MAX_SAFE_INTEGER),
    'Bytes that must be free on the disk of the data folder; with less, /ready responds 503. Uploads and sources are refused while less than twice as many are free.',
  ),
} as const
