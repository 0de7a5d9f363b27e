import { invalidInput } from '../../base/problem.ts'

/** A part of `groupby`, `measures` or `sortby`: a name, or a function with arguments. */
export interface Call {
  /** As in the request, without spaces between the parts. */
  text: string
  name: string
  /** Null for a plain name. */
  args: string[] | null
}

/** A name in double quotes, in which a quote is doubled; or anything without commas, quotes and parentheses. */
const NAME = /"(?:[^"]|"")*"|[^",()]+/y

/**
 * Reads a list such as `kind,month(time),percentile("size, in m²",95)`. A JSON array of strings has one part in each
 * string.
 */
export function readCallList(parameter: string, text: string): Call[] {
  const parts = jsonList(text)
  if (parts) return parts.map((part) => single(parameter, part))
  return readCalls(parameter, text)
}

function jsonList(text: string): string[] | null {
  if (!/^\s*\[.*\]\s*$/s.test(text)) return null
  try {
    const list = JSON.parse(text) as unknown[]
    return list.every((part) => typeof part === 'string') ? list : null
  } catch {
    return null
  }
}

function single(parameter: string, text: string): Call {
  const [call, other] = readCalls(parameter, text)
  if (call === undefined || other !== undefined) throw malformed(parameter, text)
  return call
}

function readCalls(parameter: string, text: string): Call[] {
  const calls: Call[] = []
  let at = 0
  const name = (): string => {
    NAME.lastIndex = at
    const match = NAME.exec(text)
    if (match === null) throw malformed(parameter, text.slice(at))
    at = NAME.lastIndex
    // A space after a quoted name is not a part of it.
    while (text[at] === ' ') at++
    return match[0].trim()
  }
  for (;;) {
    const head = name()
    let args: string[] | null = null
    if (text[at] === '(') {
      args = []
      at++
      while (text[at] !== ')') {
        args.push(name())
        if (text[at] === ',') at++
        else if (text[at] !== ')') throw malformed(parameter, text.slice(at))
      }
      at++
      while (text[at] === ' ') at++
    }
    const call = args === null ? head : `${head}(${args.join(',')})`
    calls.push({ text: call, name: unquoted(head), args: args?.map(unquoted) ?? null })
    if (at === text.length) return calls
    if (text[at] !== ',') throw malformed(parameter, text.slice(at))
    at++
  }
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}

function malformed(parameter: string, text: string) {
  return invalidInput(parameter, `cannot be read at "${text.slice(0, 80)}"`)
}
