import type { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'

export function rotateSigningKeyCommand(): Command {
  return operatorCommand(
    'rotate-signing-key',
    'Sign access tokens with a new key from now on. Nobody is signed out.',
    ['rotate-signing-key'],
  ).action(rotate)
}

async function rotate(flags: OperatorFlags): Promise<void> {
  const { kid } = await withParts(flags, ({ identity }) => identity.signingKeys.rotate(operator))
  print(flags, { kid }, `Access tokens are signed with the new key ${kid}.`)
}
