/**
 * `npm run services`: keeps the tests' PostgreSQL and Redis up until Ctrl-C, for work on a single test.
 * Standard output carries nothing but the lines to give to a shell.
 */
import { startTestEnvironment } from './test-environment.ts'

console.log = console.error
// Until all is up, leaving is enough: what has started goes with the process.
const leave = () => process.exit(1)
process.on('SIGINT', leave).on('SIGTERM', leave)
try {
  const environment = await startTestEnvironment()
  for (const [name, value] of Object.entries(environment.variables)) {
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
