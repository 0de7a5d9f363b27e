import { type Bench, decimal, whole } from './bench.ts'
import { startBareServer } from './measure/bare-server.ts'
import { compare } from './measure/compare.ts'
import { startWayleave } from './measure/wayleave-server.ts'

const path = '/health'
/** At this level the response is logged, as those of other routes always are. */
const settings = { WAYLEAVE_LOG_LEVEL: 'debug' }
/** Node's HTTP server adds these headers itself. */
const madeByNode = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/** The overhead of request ids, logs, metrics and headers, compared with a server that has none of them. */
export const bench: Bench = async (print) => {
  const ours = await startWayleave(settings)
  try {
    const answer = await fetch(ours.origin + path)
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !madeByNode.includes(name)))
    const bare = await startBareServer({ headers, body: await answer.bytes() })
    try {
      const load = { requests: [{ path }], connections: 16 }
      const result = await compare(
        { name: 'wayleave', server: ours, load },
        { name: 'node:http', server: bare, load },
      )
      print('| server | requests/s | median ms | processor µs/request |')
      print('|---|---:|---:|---:|')
      for (const [name, side] of [
        ['wayleave', result.ours] as const,
        ['node:http', result.theirs] as const,
      ]) {
        const figures = [whole(side.requestsPerSecond), decimal(side.medianMs)]
        print(`| ${name} | ${figures.join(' | ')} | ${decimal(side.serverMicrosecondsPerRequest, 1)} |`)
      }
      print(
        `\nratio ${decimal(result.ratio)} (aim: at least 0.7); by processor time ${decimal(result.processorRatio)}`,
      )
    } finally {
      await bare.stop()
    }
  } finally {
    await ours.stop()
  }
}
