import type { FieldError } from '@wayleave/contract/records'

/**
 * All errors that a client can get, in one table. The code is stable and documented at `/problems/<code>`; it
 * determines the status and the title; the detail describes the specific case.
 */
export const problems = {
  'invalid-input': [
    400,
    'Invalid input',
    'A value in the query or the body is missing, unknown or out of its bounds. `errors` names each one.',
  ],
  'malformed-request': [
    400,
    'Malformed request',
    'The request is not valid HTTP, so it was not read any further.',
  ],
  'event-refused': [
    400,
    'Event refused',
    'The event of the payment provider has no valid signature, is too old, or belongs to another account or mode.',
  ],
  'malformed-json': [400, 'Malformed JSON', 'The body is not valid JSON.'],
  'invalid-filter': [
    400,
    'Invalid filter',
    'The CQL2 filter cannot be understood or does not fit the collection. The sentence says where and why.',
  ],
  'invalid-cursor': [
    400,
    'Invalid cursor',
    'The cursor belongs to another query, or was changed. Begin again at the first page.',
  ],
  'assistant-request-invalid': [
    400,
    'The request of an assistant is not valid',
    'A program asked for access to the service in a way that cannot be granted. Start again in that program.',
  ],
  'extract-too-large': [
    400,
    'Too many rows for one file',
    'The rows that match are more, or larger, than a file of filtered rows may have. Narrow the filter, page through the items, or download the whole dataset.',
  ],
  'too-many-groups': [
    400,
    'Too many groups',
    'The result would have more groups than a query may. Group by fewer or coarser values, ask for fewer measures, or narrow the filter.',
  ],
  'token-missing': [
    401,
    'Sign-in required',
    'The request carries no Bearer token. Sign in and send `Authorization: Bearer <token>`.',
  ],
  'token-invalid': [
    401,
    'Invalid token',
    'The Bearer token is malformed, expired, or not one of ours. Refresh it or sign in again.',
  ],
  'key-missing': [
    401,
    'API key required',
    'The request carries no API key. Send it in the header `X-API-Key`.',
  ],
  'key-invalid': [
    401,
    'Invalid API key',
    'The API key is unknown, expired, revoked or was replaced by rotation, or its owner was blocked or its organization suspended.',
  ],
  'sign-in-failed': [
    401,
    'Sign-in failed',
    'The link or code is wrong, was used already, or is older than 15 minutes. Ask for a new one.',
  ],
  'sign-on-failed': [
    401,
    'Single sign-on failed',
    'The provider did not confirm the sign-in, its response does not belong to this browser, or the account there does not fit the one here. Begin again.',
  ],
  'session-ended': [
    401,
    'Session ended',
    'The refresh token is unknown, expired, or was used twice. Sign in again.',
  ],
  'credits-exhausted': [
    402,
    'Not enough credits',
    'The organization has fewer credits than the download costs.',
  ],
  'key-budget-exhausted': [
    402,
    'Budget of the key used up',
    'The download costs more than what is left of the credits that the key may spend in this month (UTC).',
  ],
  'member-budget-exhausted': [
    402,
    'Budget of the member used up',
    'The download costs more than what is left of the credits that the member may spend in this month (UTC).',
  ],
  'price-higher': [
    402,
    'Price higher than agreed',
    'The download costs more than the header `Credits-Max` allows. Nothing was charged.',
  ],
  'permission-missing': [
    403,
    'Permission missing',
    'The caller lacks a permission that the operation needs; the sentence names it.',
  ],
  'add-on-missing': [
    403,
    'Add-on missing',
    'The organization lacks the add-on that unlocks this; the sentence names it.',
  ],
  'test-key': [403, 'Test key', 'A test key gets metadata and samples only.'],
  'access-limited': [
    403,
    'Access limited',
    'The organization’s access to this dataset does not include what was asked for; the sentence names it.',
  ],
  'sign-in-method-off': [
    403,
    'Sign-in method not offered',
    'The operator has turned this way to sign in off. The sign-in page shows those that work.',
  ],
  'not-administrator': [403, 'For platform administrators', 'Only platform administrators may do this.'],
  'address-blocked': [
    403,
    'Address blocked',
    'The operator has blocked the network address that the request comes from.',
  ],
  'origin-refused': [
    403,
    'Origin refused',
    'Neither sign-in nor a key that the browser remembers can be used from a page of another origin.',
  ],
  'origin-not-allowed': [
    403,
    'Origin not allowed',
    'The API key may be used only by web pages of certain origins, and the request comes from another one or names none.',
  ],
  'address-not-allowed': [
    403,
    'Address not allowed',
    'The API key may be used only from certain network addresses, and the request comes from another one.',
  ],
  'not-found': [404, 'Not found', 'There is nothing at this address, or it is not visible to the caller.'],
  'method-not-allowed': [
    405,
    'Method not allowed',
    'The address exists, but not with this method. The header `Allow` lists those it has.',
  ],
  'not-acceptable': [
    406,
    'Not acceptable',
    'None of the media types that the request accepts is available here.',
  ],
  'request-timeout': [408, 'Request timeout', 'The request took too long to arrive.'],
  conflict: [409, 'Conflict', 'The operation does not fit the present state; the sentence says why.'],
  'no-stable-ids': [
    409,
    'No stable ids',
    'The ids of the features are row numbers, so versions cannot be compared. The publisher can name an id column.',
  ],
  'key-limit-reached': [
    409,
    'Key limit reached',
    'The user or organization holds as many keys as it may. Delete one first.',
  ],
  'upload-limit-reached': [
    409,
    'Upload limit reached',
    'The publisher has as many uploads that wait or run as it may, or as many bytes in them. Wait until a job has ended, or cancel one.',
  ],
  'member-limit-reached': [
    409,
    'Member limit reached',
    'The organization has as many members as its plan includes.',
  ],
  'key-state-conflict': [
    409,
    'Key is not active',
    'The key is expired or revoked, and this operation needs one that is not.',
  ],
  'idempotency-mismatch': [
    409,
    'Another request with this Idempotency-Key',
    'The Idempotency-Key was used for another request in the last 24 hours. Use a new one for each request.',
  ],
  'idempotency-in-progress': [
    409,
    'Request in progress',
    'A request with the same Idempotency-Key is being carried out. Repeat it later to get its response.',
  ],
  'idempotency-response-lost': [
    409,
    'Carried out, response lost',
    'The service stopped after it had carried out the request with this Idempotency-Key and before its response was stored. `subject` names what was changed.',
  ],
  'last-member-manager': [
    409,
    'Last member with MEMBER_MANAGE',
    'The last member with MEMBER_MANAGE can neither leave nor lose that permission.',
  ],
  'invitation-invalid': [
    409,
    'Invitation not usable',
    'The invitation was accepted or withdrawn already, has expired, is for another mail address, or its sender may no longer grant what it grants.',
  ],
  'body-too-large': [413, 'Body too large', 'The body is larger than this address takes.'],
  'unsupported-media-type': [
    415,
    'Unsupported media type',
    'The body’s Content-Type is not one that this address takes.',
  ],
  'range-not-satisfiable': [
    416,
    'Range not satisfiable',
    'The range lies outside the file. `Content-Range` gives its size.',
  ],
  'headers-too-large': [
    431,
    'Headers too large',
    'The URL and the headers together are larger than 64 KB. Long filters can be sent in a body: see `…/search`.',
  ],
  'rate-limited': [
    429,
    'Too many requests',
    'The rate limit is reached. `Retry-After` says in how many seconds to try again.',
  ],
  'daily-features-reached': [
    429,
    'Daily features reached',
    'The keys of this user or organization have paged through as many features as they may in one day (UTC).',
  ],
  'internal-error': [
    500,
    'Internal error',
    'Something failed on our side. The log has it under the `requestId`.',
  ],
  'build-failed': [
    500,
    'Export could not be built',
    'The file could not be made. Nothing was charged. The next request tries again.',
  ],
  'sign-on-unavailable': [
    503,
    'Single sign-on unavailable',
    'The provider of single sign-on does not respond. Try again later, or sign in by mail if the sign-in page offers it.',
  ],
  'export-not-ready': [
    503,
    'Export not ready',
    'The file is not built yet, because no worker was free in time. It will be built. Nothing was charged. Try again after `Retry-After` seconds.',
  ],
  'export-impossible': [
    409,
    'Export impossible',
    'The dataset cannot be written in this format; the sentence says why.',
  ],
  overloaded: [
    503,
    'Overloaded',
    'The service has more work than it can do in time. Try again after `Retry-After` seconds.',
  ],
  'shutting-down': [503, 'Shutting down', 'This node is stopping. Try again.'],
  'data-damaged': [
    503,
    'Data damaged',
    'Files of this version of the dataset are damaged on the server, so it is not served. Nothing was charged. The operator finds the name of the file in the log.',
  ],
  'tiles-not-ready': [
    503,
    'Tiles not ready',
    'The vector tiles of this version are being built. Try again after `Retry-After` seconds; `GET /v1/dataset/<table>` tells how far they are.',
  ],
  'tiles-failed': [
    503,
    'Tiles failed',
    'The vector tiles of this version could not be built; the sentence says why. The features themselves are served. The operator can try again with `wayleave tiles <table>`.',
  ],
  'disk-full': [
    503,
    'Disk full',
    'There is no disk space to store this. Nothing was stored or charged. Try again after `Retry-After` seconds.',
  ],
  'database-unavailable': [
    503,
    'Database unavailable',
    'The control database cannot be reached or does not respond. Try again after `Retry-After` seconds.',
  ],
  'storage-unavailable': [
    503,
    'Storage unavailable',
    'The storage that holds the data cannot be reached and this part of the data is not cached here, or the storage does not have this version yet. Nothing was charged. Try again after `Retry-After` seconds.',
  ],
  'sandbox-unavailable': [
    503,
    'No sandbox',
    'The service reads files of others only in a sandbox (`WAYLEAVE_SANDBOX=require`), and the sandbox does not work on this machine. The operator has to install bubblewrap or to permit user namespaces; `wayleave doctor` says what is missing.',
  ],
  'payment-unavailable': [
    503,
    'Payment unavailable',
    'The payment provider cannot be reached or does not respond. Nothing was ordered. Try again after `Retry-After` seconds.',
  ],
  'not-ready': [503, 'Not ready', 'The service or something it needs does not respond yet.'],
} as const satisfies Record<string, readonly [status: number, title: string, help: string]>

export type ProblemCode = keyof typeof problems

/** The limits that stop requests which would cost too much. The metrics count refusals by them. */
export type Limit =
  | 'event-loop'
  | 'searches'
  | 'pages'
  | 'queries'
  | 'tiles'
  | 'extracts'
  | 'aggregates'
  | 'sign-ins'
  | 'query-time'
  | 'query-memory'
  | 'filter-cost'
  | 'key-rate'
  | 'owner-rate'
  | 'tile-rate'
  | 'open-rate'
  | 'user-rate'
  | 'address-rate'
  | 'sign-in-rate'
  | 'invitation-rate'

export interface ProblemExtras {
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Additional members of the problem body. */
  members?: Record<string, unknown>
  /** The limit that was reached. */
  limit?: Limit | undefined
  cause?: unknown
}

/** The only error type that clients see. `detail` is for the client; `cause` is only logged. */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: ProblemCode
  readonly detail: string
  readonly errors: FieldError[] | undefined
  readonly headers: Record<string, string>
  readonly members: Record<string, unknown>
  readonly limit: Limit | undefined

  constructor(code: ProblemCode, detail: string = problems[code][2], extras: ProblemExtras = {}) {
    super(`${code}: ${detail}`, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.detail = detail
    this.errors = extras.errors
    this.headers = extras.headers ?? {}
    this.members = extras.members ?? {}
    this.limit = extras.limit
  }

  get status(): number {
    return problems[this.code][0]
  }

  get title(): string {
    return problems[this.code][1]
  }
}

export function notFound(what: string): Problem {
  return new Problem('not-found', `There is no ${what}.`)
}

export function invalidInput(path: string, message: string): Problem {
  return new Problem('invalid-input', `${path}: ${message}.`, { errors: [{ path, message }] })
}
