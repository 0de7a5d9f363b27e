import type { FieldError, ProblemBody } from '@wayleave/contract/records'
import { QueryError } from '@wayleave/query'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseError, type DatabaseFailure } from '../base/database/database-error.ts'
import { Problem } from '../base/problem.ts'
import { queryProblem } from '../base/query-problem.ts'
import { redactKeys } from '../base/redact.ts'
import { StorageUnavailableError } from '../base/storage/object-store.ts'
import type { About } from './about.ts'
import { PAGE_HEADERS } from './pages/html.ts'
import { isBrowsing, problemPage } from './pages/problem-page.ts'

/** What the body of a problem links to. */
export interface Links {
  baseUrl: () => string
  contactUrl: string | null
}

/** A body of 64 KB can contain a thousand errors: the response should not be larger than the request. */
const MAX_ERRORS = 20

/** Retry-After in seconds. A connection recovers by itself; freeing disk space needs a person. */
const RETRY_AFTER: Record<DatabaseFailure, string> = { 'database-unavailable': '2', 'disk-full': '60' }

/** Converts any thrown value to the Problem that is sent to the client. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof QueryError) return queryProblem(error)
  if (error instanceof DatabaseError) {
    const headers = { 'retry-after': RETRY_AFTER[error.failure] }
    return new Problem(error.failure, undefined, { headers, cause: error })
  }
  if (error instanceof StorageUnavailableError)
    return new Problem('storage-unavailable', undefined, { headers: { 'retry-after': '2' }, cause: error })
  const { code, validation, validationContext, statusCode, message } = error as FastifyError
  if (validation) {
    const errors = validation
      .slice(0, MAX_ERRORS)
      .map((failure): FieldError => fieldError(failure, validationContext))
    const first = errors[0]
    return new Problem('invalid-input', first ? `${first.path}: ${first.message}.` : undefined, { errors })
  }
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new Problem('disk-full', undefined, {
        headers: { 'retry-after': RETRY_AFTER['disk-full'] },
        cause: error,
      })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
    case 'FST_REQ_FILE_TOO_LARGE':
      return new Problem('body-too-large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem('unsupported-media-type')
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new Problem('malformed-json')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Problem('invalid-input', 'The body is not as long as Content-Length says.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Problem('not-found', 'The address is malformed.')
  }
  if (statusCode === 413) return new Problem('body-too-large', undefined, { cause: error })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Problem('invalid-input', message, { cause: error })
  return new Problem('internal-error', undefined, { cause: error })
}

/** What a problem that is shown as a page needs beside its links. */
export interface PageLinks extends Links {
  about: About
}

export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  links: PageLinks,
) {
  for (const [name, value] of Object.entries(problem.headers)) reply.header(name, value)
  // RFC 9110, section 15.5.2: every 401 names a scheme. `accounts/access/authenticate.ts` sets that of its own
  // refusals.
  if (problem.status === 401 && !reply.hasHeader('www-authenticate')) {
    const isAboutKey = problem.code === 'key-missing' || problem.code === 'key-invalid'
    reply.header('www-authenticate', isAboutKey ? 'ApiKey header="X-API-Key"' : 'Bearer')
  }
  reply.code(problem.status).header('cache-control', 'no-store')
  if (isBrowsing(request)) {
    const page = problemPage(problem, { request, baseUrl: links.baseUrl(), about: links.about })
    return reply.headers(PAGE_HEADERS).send(redactKeys(page))
  }
  const body = problemText(problem, {
    baseUrl: links.baseUrl,
    contactUrl: links.contactUrl,
    path: request.url.split('?', 1)[0]!,
    requestId: request.id,
  })
  return reply.header('content-type', PROBLEM_TYPE).send(body)
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** The body of a problem. `path` is null if the request could not be parsed. */
export function problemText(
  problem: Problem,
  { baseUrl, contactUrl, path, requestId }: Links & { path: string | null; requestId: string },
): string {
  const contact = (problem.status === 402 || problem.status === 403) && contactUrl
  const body: ProblemBody = {
    type: `${baseUrl()}/problems/${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    ...(path === null ? {} : { instance: path }),
    code: problem.code,
    requestId,
    ...(problem.errors ? { errors: problem.errors } : {}),
    ...(contact ? { contact } : {}),
    ...problem.members,
  }
  return redactKeys(JSON.stringify(body))
}

type Failure = NonNullable<FastifyError['validation']>[number]

function fieldError(failure: Failure, context: string | undefined): FieldError {
  const inBody = context === 'body'
  const name = failure.instancePath.slice(1)
  const child = (key: unknown) => (inBody ? `${failure.instancePath}/${key}` : String(key))
  const params = failure.params as Record<string, unknown>
  switch (failure.keyword) {
    case 'required':
      return { path: child(params['missingProperty']), message: 'is required' }
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        path: child(params['additionalProperty'] ?? params['unevaluatedProperty']),
        message: inBody ? 'is not a known field' : 'is not a known parameter',
      }
    case 'enum':
      return {
        path: inBody ? failure.instancePath : name,
        message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`,
      }
    case 'pattern':
      return { path: inBody ? failure.instancePath : name, message: 'does not have the expected form' }
    default:
      return {
        path: (inBody ? failure.instancePath : name) || (context ?? 'request'),
        message: failure.message ?? 'is invalid',
      }
  }
}
