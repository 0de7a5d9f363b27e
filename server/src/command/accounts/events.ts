import { type Command, InvalidArgumentError } from 'commander'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'
import { timestamp } from './address.ts'

interface EventFlags extends OperatorFlags {
  search?: string
  kind?: string
  since?: Date
  until?: Date
  user?: string
  key?: string
  limit: number
}

export function eventsCommand(): Command {
  return operatorCommand('events', 'List the newest events of the audit log.', [
    'events --kind key.refused --since 2026-01-31',
    'events --search "ada@example.org signed in"',
    'events --user usr_9tB3xQv5Lr1ZsW7nYc4D --json',
  ])
    .option('--search <words>', 'all of these are in the kind, actor, subject or address')
    .option('--kind <action>', 'an action such as key.revoked, or all that begin alike, such as key')
    .option('--since <time>', 'at this time or after it', timestamp)
    .option('--until <time>', 'before this time', timestamp)
    .option('--user <userId>', 'done by or to this user')
    .option('--key <keyId>', 'done by or to this key')
    .option('--limit <number>', 'how many', limitOf, 100)
    .action(events)
}

async function events(flags: EventFlags): Promise<void> {
  const { searchEvents } = await import('../../accounts/organizations/event-search.ts')
  const { readNamedEvents } = await import('../../accounts/organizations/named-events.ts')
  const { search, kind, since, until, user, key, limit } = flags
  const filter = {
    kind,
    since: since?.toISOString(),
    until: until?.toISOString(),
    userId: user,
    keyId: key,
    limit,
  }
  const data = await withControlPlane(flags, ({ database: { db } }) =>
    searchEvents({ db, text: search, filter, read: (part) => readNamedEvents(db, part) }),
  )
  const rows = data.map((event) => [
    event.at,
    event.action,
    event.subject,
    event.actor,
    event.address ?? '-',
    JSON.stringify(event.detail),
  ])
  const head = ['AT', 'ACTION', 'SUBJECT', 'ACTOR', 'ADDRESS', 'DETAIL']
  print(flags, { data }, tableText(head, rows, 'There are no such events.'))
}

function limitOf(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100_000)
    throw new InvalidArgumentError('It is 1 to 100000.')
  return limit
}
