import type { FieldError, KeyRecord } from '@wayleave/contract/records'

/** The two lists as texts with one entry a line. */
export interface AllowedCallers {
  origins: string
  addresses: string
}

export const ANY_CALLER: AllowedCallers = { origins: '', addresses: '' }

type Lists = Pick<KeyRecord, 'allowedOrigins' | 'allowedAddresses'>

export function callersOf({ allowedOrigins, allowedAddresses }: Lists): AllowedCallers {
  return { origins: allowedOrigins?.join('\n') ?? '', addresses: allowedAddresses?.join('\n') ?? '' }
}

export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** As the service takes them: no entries mean that any caller may use the key. */
export function listsOf({ origins, addresses }: AllowedCallers): Lists {
  const listOf = (text: string) => (linesOf(text).length === 0 ? null : linesOf(text))
  return { allowedOrigins: listOf(origins), allowedAddresses: listOf(addresses) }
}

/** The lists that differ from those of the key. */
export function changedLists(callers: AllowedCallers, record: Lists): Partial<Lists> {
  const { allowedOrigins, allowedAddresses } = listsOf(callers)
  const isSame = (one: string[] | null, other: string[] | null) => one?.join('\n') === other?.join('\n')
  return {
    ...(!isSame(allowedOrigins, record.allowedOrigins) && { allowedOrigins }),
    ...(!isSame(allowedAddresses, record.allowedAddresses) && { allowedAddresses }),
  }
}

/** The error of a list, or of one of its entries, which is named. */
export function listFieldError(
  errors: readonly FieldError[],
  path: string,
  text: string,
): string | undefined {
  const error = errors.find((one) => one.path === path || one.path.startsWith(`${path}/`))
  if (!error) return undefined
  const index = error.path === path ? -1 : Number(error.path.slice(path.length + 1))
  const entry = linesOf(text)[index]
  return entry === undefined ? `This ${error.message}.` : `“${entry}” ${error.message}.`
}
