import { ACTION_WORDS } from '@wayleave/contract/action-words'
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Tables } from '../database/schema.ts'

type EventExpression = ExpressionBuilder<Tables, 'events'>

/** Words that the console shows in place of an actor, so any event may have them. */
const SHOWN_FOR_ACTORS = 'the operator publisher service'

/**
 * Selects all events that may have this word in lower case in what their row says, and some that do not: only the
 * reader knows which parts of an event the caller sees, and SQLite knows only the case of ASCII letters.
 */
export function mayHaveWord(
  row: EventExpression,
  word: string,
  organizationId: string | undefined,
): Expression<SqlBool> {
  if (SHOWN_FOR_ACTORS.includes(word)) return sql<SqlBool>`true`
  const pattern = contains(word)
  const detailPattern = contains(JSON.stringify(word).slice(1, -1))
  const actions = Object.keys(ACTION_WORDS).filter((action) =>
    ACTION_WORDS[action]!.toLowerCase().includes(word),
  )
  const parties = [
    row.selectFrom('users').select(sql<string>`'user:' || id`.as('party')).where(isLike('email', pattern)),
    row.selectFrom('api_keys').select(sql<string>`'key:' || id`.as('party')).where(isLike('name', pattern)),
    row
      .selectFrom('organizations')
      .select(sql<string>`'organization:' || id`.as('party'))
      .where(isLike('name', pattern)),
    // The name of a deleted key is in events only.
    row
      .selectFrom('events as of_keys')
      .select('of_keys.subject as party')
      .where('of_keys.action', 'in', ['key.created', 'key.changed', 'key.deleted'])
      .where(isLike('of_keys.detail', detailPattern))
      .$if(organizationId !== undefined, (query) =>
        query.where('of_keys.organization_id', '=', organizationId!),
      ),
  ]
  return row.or([
    ...(['action', 'actor', 'subject', 'address'] as const).map((column) =>
      isLike(`events.${column}`, pattern),
    ),
    isLike('events.detail', detailPattern),
    // A list of SQL is never empty.
    row('events.action', 'in', ['', ...actions]),
    ...parties.flatMap((query) => [row('events.actor', 'in', query), row('events.subject', 'in', query)]),
  ])
}

function isLike(column: string, pattern: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`
}

/** A pattern of LIKE for literal text. A letter that is not ASCII stands for any, because it may have two cases. */
function contains(word: string): string {
  const literal = word.toLowerCase().replace(/[\\%_]/g, '\\$&')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return `%${literal.replace(/[^\x00-\x7F]/gu, '_')}%`
}
