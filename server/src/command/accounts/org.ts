import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import { MEMBER_PERMISSIONS, type MemberPermission } from '@wayleave/contract/permissions'
import type { AdminOrganization } from '@wayleave/contract/records'
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { isMemberPermission } from '../../accounts/access/permissions.ts'
import { MAX_CREDITS } from '../../accounts/credits/ledger.ts'
import { operator } from '../../base/events/events.ts'
import { newOrExistingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'
import { reasonOption } from './reason-option.ts'

const EXAMPLE = 'org_4f9QmZ1xYb7KcD2Lw8Rt'

export function orgCommand(): Command {
  return new Command('org')
    .description('Organizations: their add-ons, credits and members, and what refuses their keys.')
    .addCommand(
      operatorCommand('list', 'List all organizations.', ['org list', 'org list --json']).action(list),
    )
    .addCommand(
      operatorCommand('create <name>', 'Create an organization without members.', [
        'org create "City of Utrecht"',
      ]).action(create),
    )
    .addCommand(
      operatorCommand('add-on <organizationId>', 'Grant add-ons, or take them away.', [
        `org add-on ${EXAMPLE} API_ACCESS GIS_ACCESS`,
        `org add-on ${EXAMPLE} ARCHIVED_DATA --remove`,
      ])
        .addArgument(new Argument('<addOn...>', 'one or more').choices(ADD_ONS))
        .option('--remove', 'take them away instead')
        .action(addOn),
    )
    .addCommand(
      operatorCommand('credits <organizationId>', 'Add credits, or set the balance.', [
        `org credits ${EXAMPLE} --add 500`,
        `org credits ${EXAMPLE} --set 0`,
      ])
        .option('--add <n>', 'add n credits', wholeNumber(1))
        .option('--set <n>', 'set the balance to n credits', wholeNumber(0))
        .action(credits),
    )
    .addCommand(
      operatorCommand(
        'member <organizationId> <email>',
        'Make a user a member of an organization immediately, beside their other ones. An unknown address becomes a user. Without --permission the first member has all permissions, and a later one none.',
        [
          `org member ${EXAMPLE} ada@example.org`,
          `org member ${EXAMPLE} ada@example.org --permission APIKEY_VIEW --permission APIKEY_CREATE`,
        ],
      )
        .addOption(
          new Option('--permission <name>', `may be repeated: ${MEMBER_PERMISSIONS.join(', ')}`).argParser(
            collectPermission,
          ),
        )
        .action(member),
    )
    .addCommand(
      operatorCommand(
        'publishing <organizationId>',
        'Allow an organization to publish datasets of its own, or forbid it. Members need the permission DATASET_PUBLISH, keys the permission write.',
        [`org publishing ${EXAMPLE} --allow`, `org publishing ${EXAMPLE} --deny`],
      )
        .option('--allow', 'it may publish')
        .option('--deny', 'it may not publish any more; its datasets stay')
        .action(publishing),
    )
    .addCommand(
      operatorCommand(
        'suspend <organizationId>',
        'Refuse the keys of an organization and the personal keys of its members, until it is resumed.',
        [`org suspend ${EXAMPLE} --reason "Unpaid since May"`],
      )
        .addOption(reasonOption())
        .action(suspend),
    )
    .addCommand(
      operatorCommand('resume <organizationId>', 'Accept the keys of a suspended organization again.', [
        `org resume ${EXAMPLE}`,
      ]).action(resume),
    )
    .addCommand(
      operatorCommand(
        'delete <organizationId>',
        'Remove the members of an organization, revoke its keys and remove its name. The users, the ledger and the audit log stay.',
        [`org delete ${EXAMPLE}`],
      ).action(remove),
    )
}

async function list(flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ administration }) => administration.organizations())
  const rows = data.map((row) => [
    row.id,
    row.name,
    row.addOns.join(',') || '-',
    String(row.credits.balance),
    String(row.members),
  ])
  const head = ['ID', 'NAME', 'ADD-ONS', 'CREDITS', 'MEMBERS']
  print(flags, { data }, tableText(head, rows, 'There are no organizations yet.'))
}

async function create(name: string, flags: OperatorFlags): Promise<void> {
  const created = await withControlPlane(
    flags,
    ({ administration }) => administration.createOrganization(operator, name),
    newOrExistingConfig,
  )
  print(flags, created, `Created ${describe(created)}.`)
}

async function addOn(id: string, addOns: AddOn[], flags: OperatorFlags & { remove?: true }): Promise<void> {
  const changed = await withControlPlane(flags, ({ administration }) =>
    administration.setAddOns(operator, id, (current) =>
      ADD_ONS.filter((one) => (addOns.includes(one) ? !flags.remove : current.includes(one))),
    ),
  )
  const now = changed.addOns.length > 0 ? changed.addOns.join(', ') : 'no add-on'
  print(flags, changed, `Now ${describe(changed)} has ${now}.`)
}

async function credits(
  id: string,
  flags: OperatorFlags & { add?: number; set?: number },
  command: Command,
): Promise<void> {
  const { add, set } = flags
  if ((add === undefined) === (set === undefined)) {
    command.error('error: give one of --add <n> and --set <n>', { exitCode: 2 })
  }
  const changed = await withControlPlane(flags, ({ administration }) =>
    administration.setCredits(operator, id, add === undefined ? { set: set! } : { add }),
  )
  print(flags, changed, `Now ${describe(changed)} has ${changed.credits.balance} credits.`)
}

async function member(
  organizationId: string,
  email: string,
  flags: OperatorFlags & { permission?: MemberPermission[] },
): Promise<void> {
  const { organization, added } = await withControlPlane(flags, async ({ administration, members }) => {
    const organization = await administration.organization(organizationId)
    return { organization, added: await members.add(operator, organizationId, email, flags.permission) }
  })
  const held = added.permissions.length > 0 ? added.permissions.join(', ') : 'no permission'
  const sentence = `Now ${added.email} is a member of ${describe(organization)} with ${held}.`
  print(flags, { organizationId, ...added }, sentence)
}

async function publishing(
  id: string,
  flags: OperatorFlags & { allow?: true; deny?: true },
  command: Command,
): Promise<void> {
  if (flags.allow === flags.deny) command.error('error: give one of --allow and --deny', { exitCode: 2 })
  const changed = await withControlPlane(flags, ({ organizationAdministration }) =>
    organizationAdministration.setPublishing(operator, id, flags.allow === true),
  )
  const verb = changed.publishing ? 'may publish datasets' : 'may not publish datasets'
  print(flags, changed, `Now ${describe(changed)} ${verb}.`)
}

async function suspend(id: string, flags: OperatorFlags & { reason: string }): Promise<void> {
  const suspended = await withControlPlane(flags, ({ organizationAdministration }) =>
    organizationAdministration.suspend(operator, id, flags.reason),
  )
  print(flags, suspended, `Suspended ${describe(suspended)}.`)
}

async function resume(id: string, flags: OperatorFlags): Promise<void> {
  const resumed = await withControlPlane(flags, ({ organizationAdministration }) =>
    organizationAdministration.resume(operator, id),
  )
  print(flags, resumed, `Resumed ${describe(resumed)}.`)
}

async function remove(id: string, flags: OperatorFlags): Promise<void> {
  await withControlPlane(flags, ({ organizationAdministration }) =>
    organizationAdministration.delete(operator, id),
  )
  print(flags, { id }, `Deleted organization ${id}.`)
}

function describe({ id, name }: AdminOrganization): string {
  return `organization ${id} (${name})`
}

function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= MAX_CREDITS) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${MAX_CREDITS}.`)
  }
}

function collectPermission(text: string, before: MemberPermission[] = []): MemberPermission[] {
  if (!isMemberPermission(text)) {
    throw new InvalidArgumentError(`It must be one of ${MEMBER_PERMISSIONS.join(', ')}.`)
  }
  return [...before, text]
}
