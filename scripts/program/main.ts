/**
 * `npm run build [-- folder]`: writes the program to dist/program or the folder, as it is packed and installed, with the
 * console and the clients.
 */
import { join } from 'node:path'
import { ensureClients } from '../clients/build-clients.ts'
import { ensureConsole } from '../console-build.ts'
import { buildProgram } from './build-program.ts'

const root = join(import.meta.dirname, '../..')
ensureConsole(root)
ensureClients(root)
await buildProgram(root, process.argv[2] ?? join(root, 'dist', 'program'))
