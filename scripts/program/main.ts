/** `npm run build`: writes the program to dist/program, as it is packed and installed, with the console and the clients. */
import { join } from 'node:path'
import { ensureClients } from '../clients/build-clients.ts'
import { ensureConsole } from '../console-build.ts'
import { buildProgram } from './build-program.ts'

const root = join(import.meta.dirname, '../..')
ensureConsole(root)
ensureClients(root)
await buildProgram(root, join(root, 'dist', 'program'))
