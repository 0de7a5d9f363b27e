/** The two ways in which the control database fails independently of the statement. */
export type DatabaseFailure = 'database-unavailable' | 'disk-full'

/**
 * The control database is unreachable, does not respond in time, or has no disk space. Both drivers' errors
 * are converted to this one, so that the rest of the program need not know what each of them throws.
 */
export class DatabaseError extends Error {
  override name = 'DatabaseError'
  readonly failure: DatabaseFailure

  constructor(failure: DatabaseFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

interface DriverError extends Error {
  code?: string
  errcode?: number
}

/**
 * SQLSTATE codes of a server that is temporarily unavailable: too many connections, out of memory, cancelled
 * by statement_timeout, shutting down or starting up, an I/O error, a write sent to a standby, and a transaction
 * that was ended because it stood still.
 */
const UNAVAILABLE_STATES = /^(08...|53[023]00|57014|57P0[1-5]|58030|25006|25P03)$/
/**
 * SQLSTATE codes of a server that an operator is working on: the sign-in is refused (28…), the database is dropped
 * (3D000), locked (55000) or in use (55006), its schema, tables or columns are not loaded yet (3F000, 42P01, 42703),
 * rights are missing (42501), or the server finds its own files inconsistent (XX…). No statement of this program
 * causes them on a database that it has migrated.
 */
const REFUSING_STATES = /^(28...|3D000|3F000|42P01|42703|42501|5500[06]|XX00[012])$/
const DISK_FULL_STATE = '53100'
/** PostgreSQL ends one of two transactions that wait for each other. */
const DEADLOCK_STATE = '40P01'

/** Socket and DNS errors. Here they can only come from connections to the database. */
const SOCKET_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|EMFILE|ENFILE)$/

/** Errors to which the driver `pg` assigns no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after|Postgres connection has been discarded)/

/** Converts an error of a PostgreSQL connection to a DatabaseError if it is one; returns others unchanged. */
export function fromPostgres(error: unknown): unknown {
  if (error instanceof DatabaseError || !(error instanceof Error)) return error
  const { code, message } = error as DriverError
  if (code === DISK_FULL_STATE) return new DatabaseError('disk-full', 'PostgreSQL has no disk space.', error)
  const isUnavailable = code
    ? UNAVAILABLE_STATES.test(code) || REFUSING_STATES.test(code) || SOCKET_CODES.test(code)
    : DRIVER_MESSAGES.test(message)
  if (code === DEADLOCK_STATE)
    return new DatabaseError('database-unavailable', 'Two changes waited for each other.', error)
  if (!isUnavailable) return error
  return new DatabaseError('database-unavailable', `PostgreSQL is not available: ${messageOf(error)}`, error)
}

/**
 * Whether the connection is unusable after this error. Shortages and missing tables are reported by the server, over
 * a working connection.
 */
export function breaksConnection(error: unknown): boolean {
  const { code } = (error as { cause?: DriverError }).cause ?? {}
  return error instanceof DatabaseError && !(code && /^(3F...|40...|42...|53...|57014|58030)$/.test(code))
}

const DEADLOCK_ATTEMPTS = 3

/** Runs a transaction again that was ended because of a deadlock. It must change nothing but the database. */
export async function retriedAfterDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (!isDeadlock(error) || attempt === DEADLOCK_ATTEMPTS) throw error
    }
  }
}

function isDeadlock(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as DriverError
  return error instanceof DatabaseError && code === DEADLOCK_STATE
}

/** If all addresses of a host fail, the AggregateError's own message is empty. */
function messageOf(error: Error): string {
  const [first] = (error as AggregateError).errors ?? []
  return error.message || (first as Error | undefined)?.message || (error as DriverError).code || error.name
}

// https://sqlite.org/rescode.html
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26
/** Locked, read-only, unreadable, missing or damaged. */
const SQLITE_UNAVAILABLE = [
  SQLITE_BUSY,
  SQLITE_LOCKED,
  SQLITE_READONLY,
  SQLITE_IOERR,
  SQLITE_CORRUPT,
  SQLITE_CANTOPEN,
  SQLITE_NOTADB,
]
/** The shared memory file next to the database could not grow: on a full disk this is the first failure. */
const SQLITE_IOERR_SHMSIZE = 4874

/** Whether another connection holds the lock that the statement needs. */
export function isSqliteBusy(error: unknown): boolean {
  return primaryCode((error as DriverError).errcode ?? 0) === SQLITE_BUSY
}

/** Converts an error of a SQLite file, which has its result code in `errcode`, like `fromPostgres`. */
export function fromSqlite(error: Error & { errcode?: number | undefined }, file: string): Error {
  const { errcode, message } = error
  if (errcode === undefined) return error
  const primary = primaryCode(errcode)
  if (primary === SQLITE_FULL || errcode === SQLITE_IOERR_SHMSIZE)
    return new DatabaseError('disk-full', `SQLite has no disk space for ${file}: ${message}`, error)
  if (SQLITE_UNAVAILABLE.includes(primary))
    return new DatabaseError('database-unavailable', `SQLite cannot use ${file}: ${message}`, error)
  return error
}

/** Extended result codes have the primary code in their low byte. */
function primaryCode(errcode: number): number {
  return errcode & 0xff
}
