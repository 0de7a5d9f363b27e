import { Type } from 'typebox'
import { isStorableTime } from '../base/clock.ts'
import { invalidInput } from '../base/problem.ts'

/** For data routes without parameters. A key in the URL is accepted here too, if the settings allow it. */
export const noQuery = Type.Object({ api_key: Type.Optional(Type.String()) }, { additionalProperties: false })

/** Pagination of append-only lists: newest first, a page at a time, by row number. */
export const pageQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows a page.' }),
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The `next` of the page before; without it, the newest rows.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Requests one row more than it returns from `read`, to know whether there are more. */
export async function readPage<T extends { id: number | string }>(
  limit: number,
  read: (limit: number) => Promise<T[]>,
): Promise<{ data: T[]; next: T['id'] | null }> {
  const rows = await read(limit + 1)
  const data = rows.slice(0, limit)
  return { data, next: rows.length > limit ? data.at(-1)!.id : null }
}

/** Times are stored in UTC with milliseconds, and compared as text. */
export function storedTime(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  if (!isStorableTime(time)) throw invalidInput(name, 'must be a time')
  return time.toISOString()
}
