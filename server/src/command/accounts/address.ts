import { Command, InvalidArgumentError } from 'commander'
import { isStorableTime } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'
import { reasonOption } from './reason-option.ts'

interface BlockFlags extends OperatorFlags {
  reason: string
  expiresAt?: Date
}

export function addressCommand(): Command {
  return new Command('address')
    .description('Network addresses whose requests are refused.')
    .addCommand(
      operatorCommand('list', 'List the blocked networks.', ['address list', 'address list --json']).action(
        list,
      ),
    )
    .addCommand(
      operatorCommand(
        'block <network>',
        'Refuse all requests from an address or a network. A running server notices within two seconds.',
        [
          'address block 192.0.2.7 --reason "Guesses keys"',
          'address block 2001:db8::/32 --reason Flood --expires-at 2030-01-31T00:00:00Z',
        ],
      )
        .addOption(reasonOption())
        .option('--expires-at <timestamp>', 'when it ends; without it, when it is removed', timestamp)
        .action(block),
    )
    .addCommand(
      operatorCommand('unblock <network>', 'Remove the block of a network, named by itself or by its id.', [
        'address unblock 192.0.2.7',
        'address unblock blk_9tB3xQv5Lr1ZsW7nYc4D',
      ]).action(unblock),
    )
}

async function list(flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ addressBlocks }) => addressBlocks.list())
  const rows = data.map((row) => [row.id, row.network, row.expiresAt ?? 'never', row.reason])
  print(flags, { data }, tableText(['ID', 'NETWORK', 'EXPIRES', 'REASON'], rows, 'No address is blocked.'))
}

async function block(network: string, flags: BlockFlags): Promise<void> {
  const { reason, expiresAt = null } = flags
  const added = await withControlPlane(flags, ({ addressBlocks }) =>
    addressBlocks.add(operator, { network, reason, expiresAt }, null),
  )
  print(flags, added, `Blocked ${added.network} (${added.id}).`)
}

async function unblock(block: string, flags: OperatorFlags): Promise<void> {
  const isBlockId = isId('blk', block)
  await withControlPlane(flags, ({ addressBlocks }) =>
    isBlockId ? addressBlocks.remove(operator, block) : addressBlocks.removeNetwork(operator, block),
  )
  print(flags, isBlockId ? { id: block } : { network: block }, `Removed the block ${block}.`)
}

export function timestamp(text: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || !isStorableTime(time)) {
    throw new InvalidArgumentError('It is a time such as 2030-01-31T12:00:00Z.')
  }
  return time
}
