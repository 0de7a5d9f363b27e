import { startServer } from '../../assembly/start-server.ts'
import { systemClock } from '../../base/clock.ts'
import { readConfig } from '../../base/settings/config.ts'
import { makeLogger } from '../../http/observability/logger.ts'

/** Run by a test in a separate process: a server that is killed as soon as a version is committed. */
const config = readConfig({ flags: { port: '0', dataDir: process.argv[2] }, file: null })
const { url } = await startServer(config, makeLogger('warn'), systemClock, async ({ changes }) => {
  const { commit } = changes
  changes.commit = async (work) => {
    let isPublishing = false
    const result = await commit((tx, changed) =>
      work(tx, (subject, id) => {
        isPublishing ||= subject === 'dataset'
        changed(subject, id)
      }),
    )
    if (isPublishing) process.kill(process.pid, 'SIGKILL')
    return result
  }
})
process.stdout.write(`${JSON.stringify({ url })}\n`)
