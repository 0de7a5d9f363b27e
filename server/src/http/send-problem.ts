import type { ProblemBody } from '@wayleave/contract/records'
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
import { validationProblem } from './validation-problem.ts'

/** What the body of a problem links to. */
export interface Links {
  baseUrl: () => string
  contactUrl: string | null
}

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
  if (validation) return validationProblem(validation, validationContext)
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
