import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { SourceError } from '../../source-error.ts'
import { openSource } from '../index.ts'
import { readAll } from '../reading.test-kit.ts'
import { type Canary, HOSTILE_FILES, type HostileFile } from './hostile-files.test-kit.ts'

needs('gdal', 'tools')

const SECRET = 'canary-7f3a9c1e'
let scratch: string
let canary: Omit<Canary, 'folder'>
let server: Server
let connections = 0

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'hostile-'))
  mkdirSync(join(scratch, 'outside'))
  const canaryFile = join(scratch, 'outside', 'secret.csv')
  // Lines and separators, so that any reader of texts would find rows in it.
  writeFileSync(canaryFile, `user:${SECRET}\n${SECRET}:x\n`)
  server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  canary = { canaryFile, canarySecret: SECRET, canaryPort: (server.address() as { port: number }).port }
})

after(() => {
  server.close()
  rmSync(scratch, { recursive: true, force: true })
})

function made(file: HostileFile, i: number, kind: string): string {
  const folder = join(scratch, `${kind}-${i}`)
  mkdirSync(folder)
  return file.make({ ...canary, folder })
}

test('no name is used twice', () => {
  assert.equal(new Set(HOSTILE_FILES.map(({ name }) => name)).size, HOSTILE_FILES.length)
})

for (const [i, file] of HOSTILE_FILES.entries())
  test(`${file.name}: ${file.expected === 'own-rows' ? 'its own rows' : 'refused'}`, async () => {
    const path = made(file, i, 'here')
    const { expected } = file
    let output: string
    try {
      const { rows, stream, unreadable } = await readAll(
        openSource(path, { ...file.options, scratchFolder: scratch }),
      )
      output = JSON.stringify([rows, stream.notes, stream.columns, unreadable], withBigInts)
      assert.equal(expected, 'own-rows', `it was published: ${output.slice(0, 300)}`)
      assert.ok(
        rows.some((row) => Object.values(row).includes('own')),
        output.slice(0, 300),
      )
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      output = error.message
      assert.notEqual(expected, 'own-rows', `it was refused: ${output}`)
      assert.match(output, (expected as { refused: RegExp }).refused)
    }
    assert.ok(!output.includes(SECRET), output)
    assert.equal(connections, 0, 'something connected to the canary')
  })

const hasStrace = spawnSync('strace', ['-V']).status === 0

test('no process that reads a hostile file opens the canary or connects to it', {
  skip: hasStrace ? false : 'strace is not installed',
}, () => {
  const sources = HOSTILE_FILES.map((file, i) => ({ path: made(file, i, 'traced'), options: file.options }))
  const list = join(scratch, 'sources.json')
  writeFileSync(list, JSON.stringify(sources))
  const trace = join(scratch, 'trace')
  const calls = 'trace=open,openat,openat2,connect'
  const program = [process.execPath, join(import.meta.dirname, 'read-sources.test-kit.ts'), list]
  const count = execFileSync('strace', ['-f', '-y', '--seccomp-bpf', '-e', calls, '-o', trace, ...program], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: scratch },
  })
  assert.equal(count, `${sources.length}\n`)
  const lines = readFileSync(trace, 'utf8').split('\n')
  assert.ok(
    lines.some((line) => line.includes('a.sqlite')),
    'the trace has the files that were read',
  )
  assert.deepEqual(
    lines.filter((line) => line.includes(canary.canaryFile) || /connect\(.*AF_INET/.test(line)),
    [],
  )
  assert.equal(connections, 0)
})

function withBigInts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
