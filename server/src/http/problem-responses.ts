import { type ProblemCode, problems } from '../base/problem.ts'
import { IDEMPOTENT_PATHS } from './idempotency-header.ts'

/** The parts of an OpenAPI operation that determine its error responses. */
export interface DocumentedOperation {
  security?: readonly Record<string, unknown>[]
  parameters?: readonly { name?: string; in?: string }[]
  responses?: Record<string, object>
}

/** Every request can get these, whichever operation it is for. */
const ALWAYS: readonly ProblemCode[] = [
  'malformed-request',
  'request-timeout',
  'headers-too-large',
  'address-blocked',
  'internal-error',
  'overloaded',
  'shutting-down',
]
/** These paths are for the operator's own programs: they have no rate limit and use no database. */
const UNLIMITED = new Set(['/health', '/ready', '/metrics'])
const OF_BODIES: readonly ProblemCode[] = [
  'invalid-input',
  'malformed-json',
  'body-too-large',
  'unsupported-media-type',
]

/**
 * The problems that an operation can respond with: those that follow from its method, its path, its parameters
 * and its authentication, and those that the route declares itself.
 */
export function problemsOf(
  method: string,
  path: string,
  { security = [], parameters = [] }: DocumentedOperation,
  declared: readonly ProblemCode[],
): ProblemCode[] {
  const codes = new Set<ProblemCode>([...ALWAYS, ...declared])
  const add = (...more: readonly ProblemCode[]) => {
    for (const code of more) codes.add(code)
  }
  if (!UNLIMITED.has(path)) add('rate-limited', 'database-unavailable', 'disk-full')
  if (method !== 'get') add(...OF_BODIES)
  if (parameters.some((parameter) => parameter.in === 'query')) add('invalid-input')
  if (parameters.some((parameter) => parameter.in === 'path')) add('not-found')
  const accepts = (scheme: string) => security.some((alternative) => scheme in alternative)
  if (accepts('token')) add('token-missing', 'token-invalid')
  if (accepts('key')) add('key-missing', 'permission-missing', 'origin-refused')
  // If the parameter is the only sign of a key, the key is optional.
  if (accepts('key') || parameters.some(({ name }) => name === 'api_key'))
    add('key-invalid', 'origin-not-allowed', 'address-not-allowed')
  // Organizations and keys are visible or changeable only with a permission in the organization.
  if (/\{(organizationId|keyId)\}/.test(path)) add('permission-missing')
  // Files of datasets may be in an object store.
  if (/^\/v1\/(datasets?|ogc\/collections)\b/.test(path)) add('storage-unavailable')
  if (path.startsWith('/v1/admin/')) add('not-administrator')
  if (method === 'post' && IDEMPOTENT_PATHS.test(path)) {
    add('invalid-input', 'idempotency-mismatch', 'idempotency-in-progress', 'idempotency-response-lost')
  }
  if (path.startsWith('/v1/auth/')) add('origin-refused')
  return Object.keys(problems).filter((code): code is ProblemCode => codes.has(code as ProblemCode))
}

/** The problems by their status. */
export function byStatus(codes: readonly ProblemCode[]): Map<number, ProblemCode[]> {
  const groups = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const [status] = problems[code]
    groups.set(status, [...(groups.get(status) ?? []), code])
  }
  return groups
}

const text = { type: 'string' } as const

/** Headers that all problems of a status have. */
const HEADERS: Record<number, object> = {
  401: { 'WWW-Authenticate': { description: 'How to authenticate.', schema: text } },
  429: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } } },
  503: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } } },
}

/**
 * An OpenAPI response for problems of one status. Outside `/v1`, a browser that loads a page gets the problem
 * as a page.
 */
export function problemResponse(status: number, codes: readonly ProblemCode[], hasPage: boolean): object {
  const headers = HEADERS[status]
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code][1]}.`).join(' '),
    ...(headers ? { headers } : {}),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      ...(hasPage ? { 'text/html': { schema: text } } : {}),
    },
  }
}
