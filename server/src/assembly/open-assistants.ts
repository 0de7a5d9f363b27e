import { randomBytes } from 'node:crypto'
import { installationSecret } from '../accounts/identity/installation-secret-store.ts'
import { usedSecret } from '../accounts/identity/key-cipher.ts'
import { Authorization } from '../assistants/sign-in/authorization.ts'
import { RegisteredClients } from '../assistants/sign-in/client.ts'
import { ClientDocuments } from '../assistants/sign-in/client-documents.ts'
import type { ControlPlane } from './control-plane.ts'
import type { Opening } from './opening.ts'

/** What the sign-in of assistants needs. */
export interface AssistantParts {
  registered: RegisteredClients
  authorization: Authorization
}

const NAME = 'assistant-clients'

export async function openAssistants(opening: Opening & ControlPlane): Promise<AssistantParts> {
  const { config, clock, database, keys } = opening
  const secret = await installationSecret(database.db, NAME, () => randomBytes(32).toString('base64url'))
  const registered = new RegisteredClients(usedSecret(secret, NAME, config.secretKey))
  const documents = new ClientDocuments({ allowInternal: config.allowInternalAddresses, clock })
  return {
    registered,
    authorization: new Authorization({ db: database.db, clock, keys, registered, documents }),
  }
}
