import { ACTION_WORDS, ACTOR_WORDS } from '@wayleave/contract/action-words'
import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Tables } from '../database/schema.ts'

/** An event with what `saidByRow` returns. */
type SaidExpression = ExpressionBuilder<{ events: Tables['events'] & { said: string | null } }, 'events'>

/** What members of an organization see in place of people and keys that are not theirs. */
const SHOWN_FOR_OTHERS = ['the operator', 'the publisher']

/**
 * All that the row of an event says, in lower case; null if the name of a deleted key is not known.
 *
 * Names are looked up row by row. A list of all parties whose name has a word would be made again for each statement,
 * from all users, keys and organizations of the service.
 */
export function saidByRow(): RawBuilder<string | null> {
  return sql`lower(action || ' ' || actor || ' ' || subject || ' ' || detail || ' ' || coalesce(address, '') || ' ' ||
    ${nameOf('actor')} || ' ' || ${nameOf('subject')})`
}

function nameOf(column: 'actor' | 'subject'): RawBuilder<string | null> {
  const party = sql.ref(`events.${column}`)
  // The events of a key have its name.
  return sql`case
    when ${party} like 'user:%' then coalesce((select email from users where id = substr(${party}, 6)), '')
    when ${party} like 'key:%' then coalesce(
      (select name from api_keys where id = substr(${party}, 5)),
      (select case when of_key.detail like '%"name":%' then of_key.detail end
        from events as of_key where of_key.subject = ${party} order by of_key.id desc limit 1))
    when ${party} like 'organization:%' then
      coalesce((select name from organizations where id = substr(${party}, 14)), '')
    else '' end`
}

/**
 * Selects all events that may have this word in lower case in what the caller sees, and some that do not: only the
 * reader knows what that is, and a database may know only the case of ASCII letters.
 */
export function mayHaveWord(
  row: SaidExpression,
  word: string,
  organizationId: string | undefined,
): Expression<SqlBool> {
  const has = (text: string) => text.toLowerCase().includes(word)
  // As it is, and as it is in JSON.
  const patterns = new Set([contains(word), contains(JSON.stringify(word).slice(1, -1))])
  return row.or([
    row('said', 'is', null),
    ...[...patterns].map((pattern) => sql<SqlBool>`said like ${pattern} escape '\\'`),
    isOneOf(row, 'action', keysOf(ACTION_WORDS, has)),
    isOneOf(row, 'actor', keysOf(ACTOR_WORDS, has)),
    ...(organizationId !== undefined && SHOWN_FOR_OTHERS.some(has) ? [isOther(organizationId)] : []),
  ])
}

function keysOf(words: Readonly<Record<string, string>>, has: (text: string) => boolean): string[] {
  return Object.keys(words).filter((key) => has(words[key]!))
}

/** A list of SQL is never empty. */
function isOneOf(row: SaidExpression, column: 'action' | 'actor', values: string[]): Expression<SqlBool> {
  return row(column, 'in', ['', ...values])
}

/** Whether the actor is a user or a key that is not the organization's, as far as the database knows. */
function isOther(organizationId: string): Expression<SqlBool> {
  return sql<SqlBool>`case
    when actor like 'user:%' then
      (select count(*) from members where user_id = substr(actor, 6) and organization_id = ${organizationId}) +
      (select count(*) from further_members where user_id = substr(actor, 6) and organization_id = ${organizationId}) = 0
    when actor like 'key:%' then
      coalesce((select organization_id from api_keys where id = substr(actor, 5)), '') <> ${organizationId}
    else false
  end`
}

/** A pattern of LIKE for literal text. A letter that is not ASCII stands for any, because it may have two cases. */
function contains(word: string): string {
  const literal = word.toLowerCase().replace(/[\\%_]/g, '\\$&')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return `%${literal.replace(/[^\x00-\x7F]/gu, '_')}%`
}
