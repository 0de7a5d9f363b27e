import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testedProgramArguments } from '../../../scripts/program/tested-program.ts'
import { needs } from '../../../scripts/test-run/needs.ts'
import { startServerProcess } from '../testing/processes/server-process.ts'
import { databaseKinds, temporaryDatabase, temporaryFolder } from '../testing/test-server.ts'

needs('processes')

test('SIGTERM finishes the request under way, refuses new ones, and exits with 0', async (t) => {
  const server = await startServerProcess(t, temporaryFolder(t))
  const { port } = new URL(server.url)
  const body = JSON.stringify({ email: 'ada@example.org' })
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `POST /v1/auth/magic-link HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  // Once the server responds to a request on another connection, it has received the head of this one.
  await fetch(`${server.url}/health`)
  await sleep(100)
  const exit = once(server.child, 'exit')
  server.child.kill('SIGTERM')
  // New connections are refused as soon as the signal has arrived.
  const isRefused = () =>
    fetch(`${server.url}/health`).then(
      ({ ok }) => !ok,
      () => true,
    )
  while (!(await isRefused())) await sleep(20)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text
  })
  socket.write(body.slice(5))
  assert.deepEqual(await exit, [0, null])
  assert.match(answer, /^HTTP\/1\.1 202 /)
})

test('a second server on the same data folder is refused in one sentence; after kill -9 the folder is free', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startServerProcess(t, dataDir)
  const second = spawnSync(
    process.execPath,
    [...testedProgramArguments(), 'serve', '--port', '0', '--data-dir', dataDir],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(second.status, 1)
  assert.match(
    second.stderr,
    /^wayleave: Another server uses the data folder .+\. Stop it, or give this one a folder of its own with --data-dir\.\n$/,
  )
  await first.kill()
  const third = await startServerProcess(t, dataDir)
  assert.equal((await fetch(`${third.url}/ready`)).status, 200)
})

for (const database of databaseKinds) {
  test(`what stops a start ends the process: a port that is taken with 1, a bad setting with 2 (${database})`, async (t) => {
    const first = await startServerProcess(t, temporaryFolder(t))
    const { port } = new URL(first.url)
    const databaseUrl = database === 'postgres' ? await temporaryDatabase(t) : ''
    const start = (environment: Record<string, string>, chosenPort = port) =>
      spawnSync(
        process.execPath,
        [...testedProgramArguments(), 'serve', '--port', chosenPort, '--data-dir', temporaryFolder(t)],
        {
          encoding: 'utf8',
          timeout: 120_000,
          env: { ...process.env, WAYLEAVE_DATABASE_URL: databaseUrl, ...environment },
        },
      )
    const second = start({})
    assert.equal(second.status, 1)
    assert.match(
      second.stderr,
      /^wayleave: Another program uses port \d+ of 127\.0\.0\.1\. Stop it, or choose another port, such as --port \d+\.\n$/,
    )
    const third = start({ WAYLEAVE_CRS: 'nonsense' }, '0')
    assert.equal(third.status, 2)
    assert.match(third.stderr, /wayleave: WAYLEAVE_CRS: "nonsense" is not an EPSG code that we know\./)
  })
}
