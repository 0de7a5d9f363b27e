import type { FieldError } from '@wayleave/contract/records'
import type { FastifyError } from 'fastify'
import { Problem } from '../base/problem.ts'

/** A body of 64 KB can contain a thousand errors: the response should not be larger than the request. */
const MAX_ERRORS = 20

type Failure = NonNullable<FastifyError['validation']>[number]

/** The problem of a request that does not fit the schema of its route. `context` is the part of it that does not. */
export function validationProblem(failures: readonly Failure[], context: string | undefined): Problem {
  const errors = fieldErrors(failures, context)
  const first = errors[0]
  return new Problem('invalid-input', first ? `${first.path}: ${first.message}.` : undefined, { errors })
}

/** The fields that are wrong, at most a few. */
export function fieldErrors(failures: readonly Failure[], context: string | undefined): FieldError[] {
  return failures.slice(0, MAX_ERRORS).map((failure) => fieldError(failure, context))
}

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
