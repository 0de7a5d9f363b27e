import { DATASET_ACCESS, type DatasetAccess } from '@wayleave/contract/visibilities'
import { type Command, InvalidArgumentError } from 'commander'
import { operator } from '../../base/events/events.ts'
import { timestamp } from '../accounts/address.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'
import { price } from './description-flags.ts'

const EXAMPLE = 'org_4f9QmZ1xYb7KcD2Lw8Rt'

interface GrantFlags extends OperatorFlags {
  expires?: Date
  access?: DatasetAccess[]
  credits?: number
  remove?: true
}

export function grantCommand(): Command {
  return operatorCommand(
    'grant <table> [organizationId]',
    'Give an organization access to a dataset, or list who has access. Access opens a private dataset, or a public one without add-ons.',
    [
      'grant salaries',
      `grant salaries ${EXAMPLE} --expires 2030-01-31T00:00:00Z`,
      `grant salaries ${EXAMPLE} --access features,tiles --credits 0`,
      `grant salaries ${EXAMPLE} --remove`,
    ],
  )
    .option('--expires <time>', 'when it ends; without it, when it is removed', timestamp)
    .option('--access <list>', `what it is limited to: ${DATASET_ACCESS.join(', ')}`, accessList)
    .option('--credits <n>', 'what one download costs this organization', price)
    .option('--remove', 'end the access')
    .action(grant)
}

async function grant(
  table: string,
  organizationId: string | undefined,
  flags: GrantFlags,
  command: Command,
): Promise<void> {
  const { expires: expiresAt, access, credits, remove } = flags
  const hasDetails = expiresAt !== undefined || access !== undefined || credits !== undefined
  if ((organizationId === undefined || remove) && hasDetails)
    command.error('error: --expires, --access and --credits are for access that is given', { exitCode: 2 })
  if (organizationId === undefined) {
    if (remove) command.error('error: name the organization', { exitCode: 2 })
    return list(table, flags)
  }
  if (remove) {
    await withParts(flags, ({ grants }) => grants.endFor(operator, table, organizationId))
    return print(flags, { table, organizationId }, `${organizationId} has no access to ${table} any more.`)
  }
  const given = await withParts(flags, ({ grants }) =>
    grants.give(operator, table, { organizationId, expiresAt: expiresAt ?? null, access, credits }),
  )
  print(flags, given, `Now ${organizationId} (${given.organizationName}) has access to ${table}.`)
}

async function list(table: string, flags: OperatorFlags): Promise<void> {
  const data = await withParts(flags, async ({ grants, catalog }) => {
    await catalog.find(table)
    return grants.list(table)
  })
  const rows = data.map((row) => [
    row.id,
    row.organizationId,
    row.organizationName,
    row.access?.join(',') ?? 'everything',
    row.credits === null ? '-' : String(row.credits),
    row.expiresAt ?? 'never',
  ])
  const head = ['ID', 'ORGANIZATION', 'NAME', 'ACCESS', 'CREDITS', 'EXPIRES']
  print(flags, { data }, tableText(head, rows, `No organization has access to ${table} by a grant.`))
}

function accessList(text: string): DatasetAccess[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(DATASET_ACCESS as readonly string[]).includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`It is a list of ${DATASET_ACCESS.join(', ')}.`)
  return names as DatasetAccess[]
}
