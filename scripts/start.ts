/**
 * `npm start`: builds the console and starts the service with demo data, on SQLite. Flags are passed on to
 * `serve`.
 */
import { join } from 'node:path'
import { ensureConsole } from './console-build.ts'

const root = join(import.meta.dirname, '..')
const wayleave = join(root, 'server', 'bin', 'wayleave.js')

ensureConsole(root)
// The service runs in this process, so that it receives signals, has the terminal and sets the exit status.
process.execve!(
  process.execPath,
  [process.execPath, wayleave, 'serve', '--demo', ...process.argv.slice(2)],
  process.env,
)
