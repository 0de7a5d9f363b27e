import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const PAUSE_MS = 2
/** Requests before the first that counts, until the code of this thread is compiled. */
const WARM_UP = 300

const url = `${workerData as string}/health`
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const port = parentPort!
let isRunning = true
port.once('message', () => {
  isRunning = false
})

/** The time until the response is there, in ms. */
async function requestTime(): Promise<number> {
  const began = performance.now()
  const [response] = await once(get(url, { agent }), 'response')
  response.resume()
  await once(response, 'end')
  return performance.now() - began
}

for (let i = 0; i < WARM_UP; i++) await requestTime()
port.postMessage('ready')
let longest = 0
while (isRunning) {
  longest = Math.max(longest, await requestTime())
  await delay(PAUSE_MS)
}
agent.destroy()
port.postMessage(longest)
