/**
 * `npm run services`: keeps the tests' PostgreSQL and Redis running until Ctrl-C, for work on a single test.
 * Standard output has only the lines to paste into a shell.
 */
import { startTestEnvironment } from '../test-run/environment.ts'

console.log = console.error
// During startup it is enough to exit: servers that have started end with this process.
const leave = () => process.exit(1)
process.on('SIGINT', leave).on('SIGTERM', leave)
try {
  const environment = await startTestEnvironment()
  for (const [name, value] of Object.entries(environment.variables)) {
    // It names a file that is removed at the end, without which no Node would start in the other shell.
    if (name === 'NODE_OPTIONS') continue
    process.stdout.write(`export ${name}='${value}'\n`)
  }
  console.error('Up until Ctrl-C. Give the lines above to the shell that runs the tests.')
  setInterval(() => {}, 60_000)
  const end = () => void environment.stop().then(() => process.exit(0))
  process.off('SIGINT', leave).off('SIGTERM', leave).once('SIGINT', end).once('SIGTERM', end)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
