import type { Bound, Comparison, Expression, TemporalFunction } from '../ast.ts'
import { type Condition, type Scalar, typeName } from '../condition.ts'
import { Cql2Error } from '../cql2-error.ts'
import { checkScalar, type Queryables } from './check-scalar.ts'
import { asDate, comparedDays, instantOf, isInstant } from './unify.ts'

/** Start and end; null if open. An instant is an interval of zero length. */
interface Period {
  start: Scalar | null
  end: Scalar | null
  isInstant: boolean
}

type End = 's1' | 'e1' | 's2' | 'e2'
type Step = [End, Comparison, End]

/**
 * The relations of the Time Ontology in OWL (which the standard refers to) between the start s1 and end e1 of
 * the first operand and the start s2 and end e2 of the second. All steps of a relation must hold.
 */
const STEPS: Record<Exclude<TemporalFunction, 't_disjoint'>, Step[]> = {
  t_after: [['s1', '>', 'e2']],
  t_before: [['e1', '<', 's2']],
  t_intersects: [
    ['s1', '<=', 'e2'],
    ['e1', '>=', 's2'],
  ],
  t_equals: [
    ['s1', '=', 's2'],
    ['e1', '=', 'e2'],
  ],
  t_contains: [
    ['s1', '<', 's2'],
    ['e1', '>', 'e2'],
  ],
  t_during: [
    ['s1', '>', 's2'],
    ['e1', '<', 'e2'],
  ],
  t_finishedBy: [
    ['s1', '<', 's2'],
    ['e1', '=', 'e2'],
  ],
  t_finishes: [
    ['s1', '>', 's2'],
    ['e1', '=', 'e2'],
  ],
  t_meets: [['e1', '=', 's2']],
  t_metBy: [['s1', '=', 'e2']],
  t_overlappedBy: [
    ['s1', '>', 's2'],
    ['s1', '<', 'e2'],
    ['e1', '>', 'e2'],
  ],
  t_overlaps: [
    ['s1', '<', 's2'],
    ['e1', '>', 's2'],
    ['e1', '<', 'e2'],
  ],
  t_startedBy: [
    ['s1', '=', 's2'],
    ['e1', '>', 'e2'],
  ],
  t_starts: [
    ['s1', '=', 's2'],
    ['e1', '<', 'e2'],
  ],
}

const FOR_INSTANTS: ReadonlySet<TemporalFunction> = new Set([
  't_after',
  't_before',
  't_disjoint',
  't_equals',
  't_intersects',
])

export function checkTemporal(
  op: TemporalFunction,
  args: Expression[],
  queryables: Queryables,
  at: string,
): Condition {
  const [first, second] = args.map((arg) => period(arg, queryables)) as [Period, Period]
  if (!FOR_INSTANTS.has(op) && (first.isInstant || second.isInstant)) {
    throw new Cql2Error(
      `${op.toUpperCase()} ${at} is for two intervals; if one operand is an instant, use T_AFTER, T_BEFORE, T_DISJOINT, T_EQUALS or T_INTERSECTS.`,
    )
  }
  if (op === 't_disjoint') {
    return { kind: 'not', arg: stepsHold(STEPS.t_intersects, first, second) }
  }
  return stepsHold(STEPS[op], first, second)
}

function stepsHold(steps: Step[], first: Period, second: Period): Condition {
  const all = [first.start, first.end, second.start, second.end]
  const type = all.some((end) => end?.type === 'date') ? 'date' : 'timestamp'
  const bring = (end: Scalar | null, open: string): Scalar => {
    if (end === null) return { kind: 'literal', type, value: open }
    return type === 'date' ? asDate(end) : end
  }
  const ends: Record<End, Scalar> = {
    s1: bring(first.start, '-infinity'),
    e1: bring(first.end, 'infinity'),
    s2: bring(second.start, '-infinity'),
    e2: bring(second.end, 'infinity'),
  }
  const args = steps.map(([left, op, right]) => comparedDays(op, ends[left], ends[right]))
  return args.length === 1 ? args[0]! : { kind: 'and', args }
}

function period(expression: Expression, queryables: Queryables): Period {
  if (expression.kind !== 'interval') {
    const at = instant(expression, queryables)
    return { start: at, end: at, isInstant: true }
  }
  const end = (bound: Bound) => (bound === null ? null : instant(bound, queryables))
  const start = end(expression.start)
  const finish = end(expression.end)
  const areLiteral = start?.kind === 'literal' && finish?.kind === 'literal'
  if (areLiteral && start.type !== finish.type) {
    throw new Cql2Error(`The interval ${expression.at} has a date at one end and a timestamp at the other.`)
  }
  return { start, end: finish, isInstant: false }
}

function instant(expression: Expression, queryables: Queryables): Scalar {
  const scalar = checkScalar(expression, queryables)
  const isText = scalar.kind === 'literal' && scalar.type === 'text'
  const result = isText ? instantOf(scalar, expression.at) : scalar
  if (!isInstant(result)) {
    throw new Cql2Error(`The value ${expression.at} is ${typeName(result.type)}, not a date or timestamp.`)
  }
  return result
}
