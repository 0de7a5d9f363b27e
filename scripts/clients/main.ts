/** `npm run clients`: packs both clients into dist/clients, from where the service offers them. */
import { join } from 'node:path'
import { ensureClients } from './build-clients.ts'

ensureClients(join(import.meta.dirname, '../..'))
