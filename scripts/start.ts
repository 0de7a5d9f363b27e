/** `npm start`: the service with demo data, on SQLite, with the console built. Flags go on to `serve`. */
import { join } from 'node:path'
import { ensureConsole } from './console-build.ts'

const root = join(import.meta.dirname, '..')
const wayleave = join(root, 'server', 'bin', 'wayleave.js')

ensureConsole(root)
// In this process's place, so that a signal, a terminal and an exit status are the service's own.
process.execve!(
  process.execPath,
  [process.execPath, wayleave, 'serve', '--demo', ...process.argv.slice(2)],
  process.env,
)
