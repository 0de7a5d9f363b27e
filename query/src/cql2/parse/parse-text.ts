import {
  ARITY,
  type Bound,
  COMPARISONS,
  DEFAULT_LIMITS,
  type Expression,
  type Limits,
  type Operation,
  operationNamed,
} from '../ast.ts'
import { Cql2Error } from '../cql2-error.ts'
import { dateValue, numberValue, timestampValue } from './literals.ts'
import { TokenReader } from './token-reader.ts'
import { isGeometryName, readGeometry } from './wkt-literals.ts'

/** Parses CQL2 text. Throws a Cql2Error. */
export function parseText(source: string, limits: Limits = DEFAULT_LIMITS): Expression {
  const reader = new TokenReader(source, limits)
  const expression = disjunction(reader)
  if (reader.peek().type !== 'end') throw reader.expected('AND, OR or the end')
  return expression
}

function disjunction(reader: TokenReader): Expression {
  return reader.nested(() => chain(reader, 'or', conjunction))
}

function conjunction(reader: TokenReader): Expression {
  return chain(reader, 'and', negation)
}

function chain(reader: TokenReader, op: 'and' | 'or', next: (reader: TokenReader) => Expression): Expression {
  const { at } = reader.peek()
  const args = [next(reader)]
  while (reader.acceptWord(op)) args.push(next(reader))
  return args.length === 1 ? args[0]! : call(reader, op, args, at)
}

function negation(reader: TokenReader): Expression {
  const { at } = reader.peek()
  if (!reader.acceptWord('not')) return predicate(reader)
  return call(reader, 'not', [reader.nested(() => negation(reader))], at)
}

function predicate(reader: TokenReader): Expression {
  const { at } = reader.peek()
  const left = sum(reader)
  const comparison = COMPARISONS.find((op) => reader.acceptSymbol(op))
  if (comparison !== undefined) return call(reader, comparison, [left, sum(reader)], at)
  if (reader.acceptWord('is')) {
    const isNegated = reader.acceptWord('not')
    if (!reader.acceptWord('null')) throw reader.expected(isNegated ? 'NULL' : 'NULL or NOT NULL')
    return negatedIf(reader, isNegated, call(reader, 'isNull', [left], at))
  }
  const isNegated = reader.acceptWord('not')
  if (reader.acceptWord('like'))
    return negatedIf(reader, isNegated, call(reader, 'like', [left, sum(reader)], at))
  if (reader.acceptWord('between')) {
    const from = sum(reader)
    if (!reader.acceptWord('and')) throw reader.expected('AND and the upper limit of BETWEEN')
    return negatedIf(reader, isNegated, call(reader, 'between', [left, from, sum(reader)], at))
  }
  if (reader.acceptWord('in')) {
    reader.takeSymbol('(')
    const items = list(reader, sum)
    const array = reader.node({ kind: 'array', items, at: reader.place(at) })
    return negatedIf(reader, isNegated, call(reader, 'in', [left, array], at))
  }
  if (isNegated) throw reader.expected('LIKE, BETWEEN or IN')
  return left
}

function negatedIf(reader: TokenReader, isNegated: boolean, expression: Expression): Expression {
  return isNegated
    ? reader.node({ kind: 'call', op: 'not', args: [expression], at: expression.at })
    : expression
}

function sum(reader: TokenReader): Expression {
  return binary(reader, ['+', '-'], product)
}

function product(reader: TokenReader): Expression {
  return binary(reader, ['*', '/', '%', 'div'], power)
}

function binary(
  reader: TokenReader,
  operators: ('+' | '-' | '*' | '/' | '%' | 'div')[],
  next: (reader: TokenReader) => Expression,
): Expression {
  const { at } = reader.peek()
  let left = next(reader)
  for (let steps = 0; ; steps++) {
    const op = operators.find((symbol) =>
      symbol === 'div' ? reader.acceptWord(symbol) : reader.acceptSymbol(symbol),
    )
    if (op === undefined) return left
    reader.checkDepth(steps)
    left = call(reader, op, [left, next(reader)], at)
  }
}

function power(reader: TokenReader): Expression {
  const { at } = reader.peek()
  const base = factor(reader)
  if (!reader.acceptSymbol('^')) return base
  const expression = call(reader, '^', [base, factor(reader)], at)
  // The grammar allows one ^ per term, so the associativity of a second one is never in question.
  if (reader.peek().text === '^')
    throw reader.expected('parentheses around the first power before a second ^')
  return expression
}

function factor(reader: TokenReader): Expression {
  const { at } = reader.peek()
  if (reader.acceptSymbol('-')) {
    const { type, text } = reader.peek()
    if (type === 'number') return number(reader, `-${reader.next().text}`, at)
    if (text === '-') throw reader.expected('a number, a property or a parenthesis')
    const minusOne = reader.node({ kind: 'literal', value: -1, at: reader.place(at) })
    return call(reader, '*', [minusOne, primary(reader)], at)
  }
  if (reader.peek().text === '+' && reader.peekSecond().type === 'number') reader.next()
  return primary(reader)
}

function number(reader: TokenReader, digits: string, at: number): Expression {
  return reader.node({ kind: 'literal', value: numberValue(digits, reader.place(at)), at: reader.place(at) })
}

function primary(reader: TokenReader): Expression {
  const token = reader.peek()
  const at = reader.place(token.at)
  if (token.type === 'number') return number(reader, reader.next().text, token.at)
  if (token.type === 'text') return reader.node({ kind: 'literal', value: reader.next().text, at })
  if (token.type === 'quoted') return reader.node({ kind: 'property', name: reader.next().text, at })
  if (reader.acceptSymbol('(')) {
    const inner = disjunction(reader)
    reader.takeSymbol(')')
    return inner
  }
  if (token.type !== 'name') throw reader.expected('a property, a literal, a function or a parenthesis')
  return named(reader)
}

const RESERVED = new Set(['and', 'or', 'not', 'like', 'between', 'in', 'is', 'null'])

function named(reader: TokenReader): Expression {
  const token = reader.peek()
  const at = reader.place(token.at)
  const word = token.text.toLowerCase()
  if (reader.peekSecond().text === '(' || isGeometryName(word, reader.peekSecond())) return called(reader)
  if (RESERVED.has(word)) throw reader.expected('a property, a literal, a function or a parenthesis')
  reader.next()
  if (word === 'true' || word === 'false') return reader.node({ kind: 'literal', value: word === 'true', at })
  return reader.node({ kind: 'property', name: token.text, at })
}

/** A name before a parenthesis: the constructor of a literal, or a function. */
function called(reader: TokenReader): Expression {
  const token = reader.peek()
  const at = reader.place(token.at)
  const word = token.text.toLowerCase()
  if (isGeometryName(word, reader.peekSecond())) return readGeometry(reader)
  if (RESERVED.has(word)) throw reader.expected('a property, a literal, a function or a parenthesis')
  reader.next()
  reader.takeSymbol('(')
  if (word === 'date' || word === 'timestamp') {
    const text = reader.takeText(`a ${word} in quotes`)
    reader.takeSymbol(')')
    const value = word === 'date' ? dateValue(text, at) : timestampValue(text, at)
    return reader.node({ kind: word, value, at })
  }
  if (word === 'interval') {
    const start = bound(reader)
    reader.takeSymbol(',')
    const end = bound(reader)
    reader.takeSymbol(')')
    return reader.node({ kind: 'interval', start, end, at })
  }
  const op = operationNamed(word)
  if (op === undefined || !/[a-z]/.test(word)) {
    throw new Cql2Error(`The function ${token.text} ${at} is not one that this service has.`)
  }
  const isArray = word.startsWith('a_')
  const args = list(reader, isArray ? arrayOperand : disjunction)
  const [min, max] = ARITY[op]
  if (args.length < min || (max !== null && args.length > max)) {
    throw new Cql2Error(`${token.text} ${at} takes ${min === 1 ? 'one argument' : `${min} arguments`}.`)
  }
  return call(reader, op, args, token.at)
}

function bound(reader: TokenReader): Bound {
  const token = reader.peek()
  if (token.type !== 'text') return primary(reader)
  reader.next()
  return token.text === '..'
    ? null
    : reader.node({ kind: 'literal', value: token.text, at: reader.place(token.at) })
}

/** In an array function, parentheses always make an array, even around a single element. */
function arrayOperand(reader: TokenReader): Expression {
  const { at } = reader.peek()
  if (!reader.acceptSymbol('(')) return sum(reader)
  const items = reader.nested(() => (reader.acceptSymbol(')') ? [] : list(reader, arrayOperand)))
  return reader.node({ kind: 'array', items, at: reader.place(at) })
}

/** Comma-separated expressions up to and including the closing parenthesis. */
function list(reader: TokenReader, item: (reader: TokenReader) => Expression): Expression[] {
  const items = [item(reader)]
  while (reader.acceptSymbol(',')) items.push(item(reader))
  if (!reader.acceptSymbol(')')) throw reader.expected('a comma or a closing parenthesis')
  return items
}

function call(reader: TokenReader, op: Operation, args: Expression[], at: number): Expression {
  return reader.node({ kind: 'call', op, args, at: reader.place(at) })
}
