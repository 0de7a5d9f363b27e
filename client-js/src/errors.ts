/** The root of all errors of this package. */
export class WayleaveError extends Error {
  override name = 'WayleaveError'
}

/** What the service says of a failure (RFC 9457). */
export interface Problem {
  /** The service's stable name for the problem, such as `add-on-missing`; empty where it gave none. */
  code?: string
  /** The service's sentence for this case. */
  detail?: string
  title?: string
  /** What to name when asking the service's operator about it. */
  requestId?: string
  /** For invalid input: each wrong value. */
  errors?: { path: string; message: string }[]
  /** Where to ask for add-ons and credits, where the operator says so. */
  contact?: string
}

/** The service answered with an error. The subclasses mirror the statuses. */
export class APIStatusError extends WayleaveError {
  override name = 'APIStatusError'
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly requestId: string | undefined
  readonly errors: { path: string; message: string }[]
  readonly contact: string | undefined
  /** Seconds after which the service asks to try again. */
  readonly retryAfter: number | undefined

  constructor(status: number, problem: Problem = {}, retryAfter?: number) {
    const { code = '', requestId, errors = [], contact } = problem
    const detail = problem.detail ?? problem.title ?? ''
    const name = code ? `${status} ${code}` : String(status)
    const sentence = detail ? `${name}: ${detail}` : name
    super(`${sentence}${contact ? ` See ${contact}.` : ''}${requestId ? ` (request ${requestId})` : ''}`)
    this.status = status
    this.code = code
    this.detail = detail
    this.requestId = requestId
    this.errors = errors
    this.contact = contact
    this.retryAfter = retryAfter
  }
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
/** 409: the request does not fit the present state. */
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
/** The service did not answer in time. */
export class TimeoutError extends WayleaveError {
  override name = 'TimeoutError'
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
