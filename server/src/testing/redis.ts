import { once } from 'node:events'
import { type AddressInfo, createServer, connect as openSocket, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { RedisLink } from '../base/limits/redis-link.ts'
import { makeLogger } from '../http/observability/logger.ts'
import { cleanUp } from './cleanup.ts'

/** The test runner's Redis, which all tests share: it is never stopped or paused. */
export function sharedRedisUrl(): string {
  const url = process.env['WAYLEAVE_TEST_REDIS_URL']
  if (!url) throw new Error('WAYLEAVE_TEST_REDIS_URL is not set: run the tests with npm test.')
  return url
}

/** Stops a Redis that was started for one test after the test; the test may pause and stop it. */
export function ownRedis(t: TestContext, redis: { url: string; pid: number; stop(): Promise<void> }) {
  cleanUp(t, () => redis.stop())
  let isPaused = false
  const resume = () => {
    if (isPaused) process.kill(redis.pid, 'SIGCONT')
    isPaused = false
  }
  cleanUp(t, resume)
  const pause = () => {
    process.kill(redis.pid, 'SIGSTOP')
    isPaused = true
  }
  return { ...redis, pause, resume }
}

/**
 * A link to the shared Redis, which waits for long: on a busy machine a reply may take longer than the service
 * waits, and that must not look like an outage. A link to another address waits as the service does.
 */
export async function openLink(t: TestContext, url?: string, replyMs = url ? undefined : 30_000) {
  const lines: string[] = []
  const log = makeLogger('info', (line) => lines.push(line))
  const link = await RedisLink.open({ url: url ?? sharedRedisUrl(), log, ...(replyMs && { replyMs }) })
  cleanUp(t, () => link.close())
  const countLines = (text: string) => lines.filter((line) => line.includes(text)).length
  return {
    link,
    lines,
    warnings: () => countLines('each node applies the limits by itself'),
    recoveries: () => countLines('Redis replies again'),
  }
}

/** A TCP proxy in front of the shared Redis, so that a test can cut the connection or make it hang. */
export async function openRedisProxy(t: TestContext) {
  const target = new URL(sharedRedisUrl())
  const sockets = new Set<Socket>()
  let hangs = false
  const server = createServer((near) => {
    const far = openSocket(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => hangs || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await closed
  }
  const port = await listen(0)
  cleanUp(t, () => (server.listening ? cut() : undefined))
  const url = new URL(target)
  url.port = String(port)
  /** Data that arrives while it hangs is discarded, as by a network that dropped the connection silently. */
  const hang = (value: boolean) => {
    hangs = value
  }
  return { url: url.href, cut, restore: () => listen(port), hang }
}

/** The URL of a port on which nothing listens. */
export async function unusedRedisUrl(): Promise<string> {
  const unused = createServer().listen(0, '127.0.0.1')
  await once(unused, 'listening')
  const { port } = unused.address() as AddressInfo
  await new Promise((resolve) => unused.close(resolve))
  return `redis://127.0.0.1:${port}`
}
