import { MAX_OVERLAP } from '@wayleave/contract/permissions'
import type { DeliveryRecord, WebhookChange } from '@wayleave/contract/records'
import { WEBHOOK_EVENTS, type WebhookEvent } from '@wayleave/contract/webhook-events'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { WebhookActor, Webhooks } from '../../accounts/webhooks/webhooks.ts'
import { operator } from '../../base/events/events.ts'
import { newOrExistingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print, secretText, tableText } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'
import { overlapSeconds } from './key.ts'

const EXAMPLE = 'whk_4fK8sWd2Np6TbV0mHj3C'
const EXAMPLE_ORGANIZATION = 'org_4f9QmZ1xYb7KcD2Lw8Rt'
const EXAMPLE_MESSAGE = 'msg_7gL1tXe5Qr9UcW3nKk6D'
const MAX_LISTED = 1000
const STATES: readonly DeliveryRecord['state'][] = ['waiting', 'delivered', 'failed']

interface OwnerFlags extends OperatorFlags {
  organization?: string
}

interface AddFlags extends OwnerFlags {
  events: WebhookEvent[]
  description?: string
}

interface DeliveryFlags extends OperatorFlags {
  state?: DeliveryRecord['state']
  limit: number
}

export function webhookCommand(): Command {
  const group = new Command('webhook').description(
    'Tell other programs what happens: the webhooks of the platform and of organizations.',
  )
  for (const command of [...ownerCommands(), ...deliveryCommands(), ...changeCommands()])
    group.addCommand(command)
  return group
}

function ownerCommands(): Command[] {
  const owner = (what: string) =>
    new Option('--organization <organizationId>', `${what} of this organization; without it, of the platform`)
  return [
    operatorCommand('list', 'List the webhooks of the platform, or of an organization.', [
      'webhook list',
      `webhook list --organization ${EXAMPLE_ORGANIZATION} --json`,
    ])
      .addOption(owner('those'))
      .action(list),
    operatorCommand('add <url>', 'Add a webhook. The secret that signs its messages is printed this once.', [
      'webhook add https://hooks.example.org/wayleave --events dataset.published,key.expiring',
      `webhook add https://hooks.example.org/town --events all --organization ${EXAMPLE_ORGANIZATION}`,
    ])
      .requiredOption(
        '--events <list>',
        `all, or of these: ${WEBHOOK_EVENTS.join(', ')} (required)`,
        eventsOf,
      )
      .option('--description <text>', 'what it is for')
      .addOption(owner('a webhook'))
      .action(add),
  ]
}

function deliveryCommands(): Command[] {
  return [
    operatorCommand('test <webhookId>', 'Queue a test message, which the running server sends.', [
      `webhook test ${EXAMPLE}`,
    ]).action(test),
    operatorCommand('deliveries <webhookId>', 'List the messages to a webhook, newest first.', [
      `webhook deliveries ${EXAMPLE}`,
      `webhook deliveries ${EXAMPLE} --state failed --limit 100`,
    ])
      .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
      .option('--limit <number>', `how many, up to ${MAX_LISTED}`, limitOf, 20)
      .action(deliveries),
    operatorCommand('redeliver <webhookId> <messageId>', 'Send a message again, with the same id.', [
      `webhook redeliver ${EXAMPLE} ${EXAMPLE_MESSAGE}`,
    ]).action(redeliver),
  ]
}

function changeCommands(): Command[] {
  return [
    operatorCommand('pause <webhookId>', 'Stop sending to a webhook. Nothing is queued for it meanwhile.', [
      `webhook pause ${EXAMPLE}`,
    ]).action(changeTo({ paused: true }, 'is paused')),
    operatorCommand('resume <webhookId>', 'Let a paused webhook go on.', [
      `webhook resume ${EXAMPLE}`,
    ]).action(changeTo({ paused: false }, 'goes on')),
    operatorCommand('rotate <webhookId>', 'Give a webhook a new secret. For a day, both sign its messages.', [
      `webhook rotate ${EXAMPLE}`,
      `webhook rotate ${EXAMPLE} --overlap 0`,
    ])
      .option(
        '--overlap <seconds>',
        `how long the old secret signs too, up to ${MAX_OVERLAP}`,
        overlapSeconds,
      )
      .action(rotate),
    operatorCommand('delete <webhookId>', 'Delete a webhook and the log of its messages.', [
      `webhook delete ${EXAMPLE}`,
    ]).action(remove),
  ]
}

async function list(flags: OwnerFlags): Promise<void> {
  const data = await withParts(flags, ({ webhooks }) => webhooks.list(actorFor(flags)))
  const rows = data.map(({ id, status, url, events }) => [id, status, url, events.join(',')])
  print(flags, { data }, tableText(['ID', 'STATE', 'ADDRESS', 'EVENTS'], rows, 'There are no webhooks.'))
}

async function add(url: string, flags: AddFlags): Promise<void> {
  const { events, description } = flags
  const input = { url, events, ...(description !== undefined && { description }) }
  const created = await withParts(
    flags,
    ({ webhooks }) => webhooks.create(actorFor(flags), input),
    newOrExistingConfig,
  )
  print(flags, created, `Added webhook ${created.id}. ${secretText(created.secret)}`)
}

async function test(id: string, flags: OperatorFlags): Promise<void> {
  const delivery = await withWebhook(flags, id, (webhooks, actor) => webhooks.test(actor, id))
  print(flags, delivery, `Queued ${delivery.id}. "wayleave webhook deliveries ${id}" says what became of it.`)
}

async function deliveries(id: string, flags: DeliveryFlags): Promise<void> {
  const { state, limit } = flags
  const data = await withWebhook(flags, id, (webhooks, actor) =>
    webhooks.deliveries(actor, id, { limit, state }),
  )
  const rows = data.map((delivery) => {
    const last = delivery.attempts.at(-1)
    const outcome = last === undefined ? '-' : String(last.status ?? last.error)
    const attempts = String(delivery.attempts.length)
    return [delivery.id, delivery.createdAt, delivery.type, delivery.state, attempts, outcome]
  })
  const head = ['ID', 'CREATED', 'TYPE', 'STATE', 'ATTEMPTS', 'LAST']
  print(flags, { data }, tableText(head, rows, 'There are no messages.'))
}

async function redeliver(id: string, messageId: string, flags: OperatorFlags): Promise<void> {
  const delivery = await withWebhook(flags, id, (webhooks, actor) => webhooks.redeliver(actor, id, messageId))
  print(flags, delivery, `Queued ${messageId} again.`)
}

function changeTo(change: WebhookChange, outcome: string) {
  return async (id: string, flags: OperatorFlags): Promise<void> => {
    const webhook = await withWebhook(flags, id, (webhooks, actor) => webhooks.change(actor, id, change))
    print(flags, webhook, `Webhook ${id} ${outcome}.`)
  }
}

async function rotate(id: string, flags: OperatorFlags & { overlap?: number }): Promise<void> {
  const rotated = await withWebhook(flags, id, (webhooks, actor) =>
    webhooks.rotate(actor, id, { overlapSeconds: flags.overlap }),
  )
  const { previousSecretEndsAt: endsAt } = rotated
  const overlap = endsAt === null ? '' : ` The old one signs too until ${endsAt}.`
  print(flags, rotated, `Webhook ${id} has a new secret.${overlap} ${secretText(rotated.secret)}`)
}

async function remove(id: string, flags: OperatorFlags): Promise<void> {
  await withWebhook(flags, id, (webhooks, actor) => webhooks.delete(actor, id))
  print(flags, { id }, `Deleted webhook ${id}.`)
}

/** The operator acts on a webhook of any owner. */
function withWebhook<T>(
  flags: OperatorFlags,
  id: string,
  work: (webhooks: Webhooks, actor: WebhookActor) => Promise<T>,
): Promise<T> {
  return withParts(flags, async ({ webhooks }) =>
    work(webhooks, { organizationId: await webhooks.ownerOf(id), origin: operator }),
  )
}

function actorFor({ organization }: OwnerFlags): WebhookActor {
  return { organizationId: organization ?? null, origin: operator }
}

function eventsOf(text: string): WebhookEvent[] {
  if (text === 'all') return [...WEBHOOK_EVENTS]
  const names = [...new Set(text.split(',').map((name) => name.trim()))]
  if (names.every((name): name is WebhookEvent => (WEBHOOK_EVENTS as readonly string[]).includes(name)))
    return names
  throw new InvalidArgumentError(`It is "all", or a list of ${WEBHOOK_EVENTS.join(', ')}.`)
}

function limitOf(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_LISTED) return Number(text)
  throw new InvalidArgumentError(`It is a number up to ${MAX_LISTED}.`)
}
