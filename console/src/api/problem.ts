import { APIStatusError, WayleaveError } from '@wayleave/client'
import { withCodeNames } from '@wayleave/contract/code-names'
import type { FieldError } from '@wayleave/contract/records'
import { fieldSentence } from './field-sentence.ts'

/** An error as the service describes it (RFC 9457), or our own text if the service could not be reached. */
export class ProblemError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  readonly errors: FieldError[]
  readonly contact: string | null

  constructor(
    status: number,
    code: string,
    detail: string,
    more: { requestId?: string; errors?: FieldError[]; contact?: string } = {},
  ) {
    super(withCodeNames(detail))
    this.name = 'ProblemError'
    this.status = status
    this.code = code
    this.requestId = more.requestId ?? null
    this.errors = more.errors ?? []
    this.contact = more.contact ?? null
  }
}

export function unreachable(): ProblemError {
  return new ProblemError(
    0,
    'unreachable',
    'The service cannot be reached. Check the connection and try again.',
  )
}

export function problemFrom(status: number, body: string, requestId: string | null): ProblemError {
  try {
    const { code, detail, title, ...more } = JSON.parse(body) as Record<string, string | undefined>
    return new ProblemError(
      status,
      code ?? 'unknown',
      detail ?? title ?? `The service responded with status ${status}.`,
      more,
    )
  } catch {
    // The body is an error page of a proxy; its status is enough.
    const more = requestId ? { requestId } : {}
    return new ProblemError(status, 'unknown', `The service responded with status ${status}.`, more)
  }
}

/** Converts any thrown value to a problem that can be shown. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (error instanceof APIStatusError) {
    const { status, code, detail, requestId, errors, contact } = error
    return new ProblemError(status, code, detail || `The service responded with status ${status}.`, {
      ...(requestId && { requestId }),
      ...(contact && { contact }),
      errors,
    })
  }
  if (error instanceof WayleaveError) return unreachable()
  return new ProblemError(0, 'unknown', error instanceof Error ? error.message : 'Something went wrong here.')
}

/** The error of the field with this path as a sentence, if the failure is about it. */
export function fieldErrorOf(error: unknown, path: string): string | undefined {
  const fieldError = error ? asProblem(error).errors.find((one) => one.path === path) : undefined
  return fieldError && fieldSentence(fieldError)
}
