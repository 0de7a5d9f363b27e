import type { QueryError } from '@wayleave/query'
import { invalidInput, Problem } from './problem.ts'

/** The problem that a refused query is for the client that sent it. */
export function queryProblem({ code, message, parameter, limit }: QueryError): Problem {
  switch (code) {
    case 'invalid-filter':
      return new Problem(code, message, { limit })
    case 'too-many-groups':
      return new Problem(code, message)
    case 'invalid-parameter':
      return invalidInput(parameter!, message)
    case 'overloaded':
      return new Problem(code, undefined, { headers: { 'retry-after': '2' }, limit })
  }
}
