import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../scripts/test-run/needs.ts'
import { HOSTILE_FILES } from '../formats/hostile/hostile-files.test-kit.ts'
import { Sandbox } from './sandbox.ts'

needs('gdal')

const NAIVE_READER = fileURLToPath(new URL('./testing/naive-reader.ts', import.meta.url))
const SECRET = 'canary-51c2e8'
/** Every fifth file keeps all kinds; each starts a process. */
const SHARE = 5

const scratch = mkdtempSync(join(tmpdir(), 'wayleave-hostile-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const canaryFile = join(scratch, 'secret.csv')
writeFileSync(canaryFile, `user:${SECRET}\n${SECRET}:x\n`)
let connections = 0
const server = createServer((socket) => {
  connections++
  socket.destroy()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())
const { port: canaryPort } = server.address() as { port: number }

const files = join(scratch, 'files')
mkdirSync(files)
const made = HOSTILE_FILES.map((file, i) => {
  const folder = join(files, String(i))
  const make = () => {
    mkdirSync(folder)
    return file.make({ folder, canaryFile, canarySecret: SECRET, canaryPort })
  }
  return { name: file.name, make, layer: file.options?.layer ?? null }
})
const leaking = made.find(({ name, layer }) => /VirtualText/.test(name) && layer !== null)!

async function readNaively(chosen: typeof made, mode: 'require' | 'off'): Promise<string> {
  const readings = chosen.map(({ make, layer }) => ({ path: make(), layer }))
  const { program, args, environment } = await new Sandbox(mode).command({
    entry: NAIVE_READER,
    nodeFlags: [],
    input: { path: files, isAlone: true },
    folder: mkdtempSync(join(scratch, 'out-')),
    program: 'ogrinfo',
    limits: { fileBytes: 1 << 28, dataMegabytes: 4000, processorSeconds: 300 },
  })
  const child = spawn(program, args, { env: environment, stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
  child.stdin!.end(JSON.stringify(readings))
  const [output, stderr] = await Promise.all([text(child.stdio[3] as Readable), text(child.stderr!)])
  assert.match(output, /all were read$/, stderr)
  return output
}

const { isClosed, missing } = await new Sandbox('auto').state()

test('the sandbox alone keeps hostile files from other files and the network', {
  skip: isClosed ? false : missing[0]!,
}, async () => {
  const chosen = made.filter((file, i) => i % SHARE === 0 && file !== leaking)
  const output = await readNaively([leaking, ...chosen], 'require')
  assert.ok(!output.includes(SECRET), output.slice(output.indexOf(SECRET) - 300, output.indexOf(SECRET) + 50))
  assert.equal(connections, 0)
})

test('without the sandbox, the same reader exposes another file', async () => {
  rmSync(files, { recursive: true })
  mkdirSync(files)
  assert.match(await readNaively([leaking], 'off'), new RegExp(SECRET))
})
