/** `npm start`: builds the console, packs the clients, and starts the service with demo data on SQLite. Flags go to `serve`. */
import { join } from 'node:path'
import { ensureClients } from './clients/build-clients.ts'
import { ensureConsole } from './console-build.ts'

const root = join(import.meta.dirname, '..')
const wayleave = join(root, 'server', 'bin', 'wayleave.js')

ensureConsole(root)
ensureClients(root)
// Replaces this process, so that signals, the terminal and the exit status are the service's own.
process.execve!(
  process.execPath,
  [process.execPath, wayleave, 'serve', '--demo', ...process.argv.slice(2)],
  process.env,
)
