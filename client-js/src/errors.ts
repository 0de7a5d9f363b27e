import type { FieldError, ProblemBody } from './contract.ts'

/*
 * WayleaveError
 * ├── APIStatusError           the service responded with an error
 * │   ├── BadRequestError          400
 * │   ├── AuthenticationError      401
 * │   ├── PaymentRequiredError     402
 * │   ├── PermissionDeniedError    403
 * │   ├── NotFoundError            404
 * │   ├── ConflictError            409
 * │   ├── RateLimitError           429
 * │   └── ServerError              500 and above
 * ├── ConnectionError          the service could not be reached, or the connection broke
 * ├── TimeoutError             the service did not respond in time
 * └── PublishError             a file could not be published
 */

/** The root of all errors that calls to the service throw. Wrong arguments are a TypeError or a RangeError. */
export class WayleaveError extends Error {
  override name = 'WayleaveError'
}

/** What the service says of a failure (RFC 9457). */
export interface Problem {
  /** The service's stable name for the problem, such as `add-on-missing`. */
  code?: ProblemBody['code'] | undefined
  /** The service's sentence for this case. */
  detail?: ProblemBody['detail'] | undefined
  title?: ProblemBody['title'] | undefined
  /** What to name when asking the service's operator about it. */
  requestId?: ProblemBody['requestId'] | undefined
  /** For invalid input: each wrong value. */
  errors?: FieldError[] | undefined
  /** Where to ask for add-ons and credits, if the operator says so. */
  contact?: ProblemBody['contact'] | undefined
  /** A suggestion of the client. */
  hint?: string | undefined
}

/** The service responded with an error. The subclasses mirror the statuses. */
export class APIStatusError extends WayleaveError {
  override name = 'APIStatusError'
  readonly status: number
  /** The service's stable name for the problem, such as `add-on-missing`; empty if it sent none. */
  readonly code: string
  /** The service's sentence for this case. */
  readonly detail: string
  /** For invalid input: each wrong value. */
  readonly errors: FieldError[]
  // Declared only, so that an error that is printed does not list the fields that it lacks.
  /** A suggestion of the client, such as the name that a misspelt one resembles. */
  declare readonly hint: string | undefined
  /** What to name when asking the service's operator about it. */
  declare readonly requestId: string | undefined
  /** Where to ask for add-ons and credits, if the operator says so. */
  declare readonly contact: string | undefined
  /** Seconds after which the service asks to try again. */
  declare readonly retryAfter: number | undefined

  constructor(status: number, problem: Problem = {}, retryAfter?: number) {
    const { code = '', title = '', detail = title, errors = [], hint, requestId, contact } = problem
    super(messageOf(status, { code, detail, hint, requestId, contact }))
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = errors
    if (hint !== undefined) this.hint = hint
    if (requestId !== undefined) this.requestId = requestId
    if (contact !== undefined) this.contact = contact
    if (retryAfter !== undefined) this.retryAfter = retryAfter
  }
}

function messageOf(status: number, { code, detail, hint, requestId, contact }: Problem): string {
  const name = code ? `${status} ${code}` : String(status)
  const text = [detail, hint, contact && `See ${contact}.`].filter(Boolean).join(' ')
  return `${name}${text ? `: ${text}` : ''}${requestId ? ` (request ${requestId})` : ''}`
}

/** 400: a parameter is wrong; `errors` names it. */
export class BadRequestError extends APIStatusError {
  override name = 'BadRequestError'
}
/** 401: the key is missing, unknown, expired, revoked or was replaced by rotation. */
export class AuthenticationError extends APIStatusError {
  override name = 'AuthenticationError'
}
/** 402: the organization has too few credits for the download. */
export class PaymentRequiredError extends APIStatusError {
  override name = 'PaymentRequiredError'
}
/** 403: the key lacks a permission, or its organization an add-on; `detail` names it. */
export class PermissionDeniedError extends APIStatusError {
  override name = 'PermissionDeniedError'
}
/** 404: there is no such dataset, format, version or sample. */
export class NotFoundError extends APIStatusError {
  override name = 'NotFoundError'
}
/** 409: the request does not fit the current state. */
export class ConflictError extends APIStatusError {
  override name = 'ConflictError'
}
/** 429: too many requests; `retryAfter` says how long to wait. */
export class RateLimitError extends APIStatusError {
  override name = 'RateLimitError'
}
/** 500 and above: the service failed or is overloaded. */
export class ServerError extends APIStatusError {
  override name = 'ServerError'
}

/** The service could not be reached, or the connection broke. */
export class ConnectionError extends WayleaveError {
  override name = 'ConnectionError'
}
/** The service did not respond in time. */
export class TimeoutError extends WayleaveError {
  override name = 'TimeoutError'
}

/** A row of a file that cannot be published. */
export interface RowProblem {
  row: number
  message: string
}
/** A file could not be published or inspected; `problems` names the first rows. */
export class PublishError extends WayleaveError {
  override name = 'PublishError'
  readonly problems: RowProblem[]
  readonly problemCount: number

  constructor(message: string, problems: RowProblem[] = [], problemCount = 0) {
    super(message)
    this.problems = problems
    this.problemCount = problemCount
  }
}

export function errorClassOf(status: number): typeof APIStatusError {
  const byStatus: { [status: number]: typeof APIStatusError } = {
    400: BadRequestError,
    401: AuthenticationError,
    402: PaymentRequiredError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
  }
  return byStatus[status] ?? (status >= 500 ? ServerError : APIStatusError)
}
