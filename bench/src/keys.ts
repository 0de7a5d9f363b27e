import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Bench, decimal, whole } from './bench.ts'
import { compare } from './measure/compare.ts'
import { startWayleave } from './measure/wayleave-server.ts'

const run = promisify(execFile)
const server = join(import.meta.dirname, '../../server')
const path = '/v1/datasets'

/** The cost of a key: the same response with a key, which is verified and metered, and without. */
export const bench: Bench = async (print) => {
  const wayleave = await startWayleave()
  try {
    const key = await wayleave.createKey()
    const result = await compare(
      { name: 'with a key', server: wayleave, load: { requests: [{ path, headers: { 'x-api-key': key } }] } },
      { name: 'without', server: wayleave, load: { requests: [{ path }] } },
    )
    print('| request | requests/s | median ms | processor µs/request |')
    print('|---|---:|---:|---:|')
    for (const [name, side] of [['with a key', result.ours] as const, ['without', result.theirs] as const]) {
      const figures = [whole(side.requestsPerSecond), decimal(side.medianMs)]
      print(`| ${name} | ${figures.join(' | ')} | ${decimal(side.serverMicrosecondsPerRequest, 1)} |`)
    }
    print(
      `\nratio ${decimal(result.ratio)} (aim: at least 0.85); by processor time ${decimal(result.processorRatio)}`,
    )
  } finally {
    await wayleave.stop()
  }
  print(`\nverifying a key that the cache holds: ${decimal(await verificationMicroseconds())} µs`)
}

async function verificationMicroseconds(): Promise<number> {
  const { stdout } = await run(process.execPath, [join(server, 'src/testing/time-verification.ts')])
  return Number(stdout)
}
