import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../scripts/test-run/needs.ts'
import { compileInChildProcess } from '../compile/compile-in-child-process.ts'
import type { CompileProgress } from '../compile/compile-options.ts'
import { inputBinds } from './input-files.ts'
import { Sandbox, type SandboxMode, SandboxUnavailableError } from './sandbox.ts'

needs('tools')

const ATTACKER = fileURLToPath(new URL('./testing/attacker.ts', import.meta.url))
const SECRET = 'canary-7f3d'
const scratch = mkdtempSync(join(tmpdir(), 'wayleave-sandbox-test-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const canaryFile = join(scratch, 'canary.txt')
writeFileSync(canaryFile, SECRET)
process.env['WAYLEAVE_SECRET_KEY'] = SECRET

let connections = 0
const canary: Server = createServer((socket) => {
  connections++
  socket.destroy()
}).listen(0, '127.0.0.1')
after(() => canary.close())
await new Promise((resolve) => canary.once('listening', resolve))
const { port: canaryPort } = canary.address() as { port: number }

/** Runs the attacker in place of a reader. */
async function attack(mode: SandboxMode, only: string[] | null = null): Promise<{ [name: string]: string }> {
  const sandbox = new Sandbox(mode)
  const folder = mkdtempSync(join(scratch, 'out-'))
  const input = join(mkdtempSync(join(scratch, 'in-')), 'input.csv')
  writeFileSync(input, 'own rows')
  const { program, args, environment } = await sandbox.command({
    entry: ATTACKER,
    nodeFlags: [],
    input: { path: input, isAlone: true },
    folder,
    program: 'ogr2ogr',
    limits: { fileBytes: 1 << 20, dataMegabytes: 2000, processorSeconds: 60 },
  })
  const child = spawn(program, args, { env: environment, stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
  child.stdin!.end(JSON.stringify({ canaryFile, canaryPort, parent: process.pid, input, folder, only }))
  const [results, stderr] = await Promise.all([text(child.stdio[3] as never), text(child.stderr!)])
  assert.notEqual(results, '', stderr)
  assert.equal(readFileSync(input, 'utf8'), 'own rows')
  return JSON.parse(results)
}

const closed = await new Sandbox('auto').state()
const skip = closed.isClosed ? false : closed.missing[0]!

test('code in the sandbox reaches its input and its folder, and nothing else', { skip }, async () => {
  const before = connections
  const results = await attack('require')
  assert.equal(results['own input'], 'got own rows')
  assert.equal(results['own folder'], 'got undefined')
  const refused = Object.keys(results).filter((name) => results[name]!.startsWith('refused'))
  assert.deepEqual(refused, [
    'a file, by Node',
    'a file, by another program',
    'a file, by SQLite',
    'a file, through a link',
    'the environment of the service',
    'the processes',
    'the accounts',
    'the network, by Node',
    'the network, by another program',
    'writing to the input',
    'writing elsewhere',
    'a link, by Node',
    'a signal to the service',
    'a large file',
    'many processes',
    'much memory',
  ])
  assert.doesNotMatch(JSON.stringify(results), new RegExp(SECRET))
  if (process.getuid?.() === 0) assert.match(results['the capabilities']!, /^got uid: 61017$/m)
  assert.match(results['the capabilities']!, /no_new_privs: 1/)
  assert.match(
    results['the capabilities']!,
    /Capability bounding set: \[none\]|Effective capabilities: \[none\]/,
  )
  assert.equal(connections, before)
})

test('without a sandbox, the process still gets no variable of the service', async () => {
  const results = await attack('off', ['the own environment', 'a file, by Node'])
  assert.doesNotMatch(results['the own environment']!, new RegExp(SECRET))
  assert.match(results['a file, by Node']!, new RegExp(SECRET), 'the attacker works')
})

test('a folder inside of the program’s folders can be hidden', { skip }, async () => {
  const hidden = join(import.meta.dirname, `hidden-${process.pid}`)
  mkdirSync(hidden)
  try {
    writeFileSync(join(hidden, 'secret.txt'), SECRET)
    const sandbox = new Sandbox('require', [hidden])
    const folder = mkdtempSync(join(scratch, 'out-'))
    const { program, args, environment } = await sandbox.command({
      entry: join(hidden, 'secret.txt'),
      nodeFlags: [
        '--eval',
        'console.log(require("fs").readdirSync(process.argv[1].replace(/secret.txt$/, "")))',
      ],
      input: { path: canaryFile, isAlone: true },
      folder,
      program: null,
      limits: { fileBytes: 1 << 20, dataMegabytes: 2000, processorSeconds: 60 },
    })
    const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
    assert.equal((await text(child.stdout!)).trim(), '[]')
  } finally {
    rmSync(hidden, { recursive: true })
  }
})

test('a file for its owner alone can be read by the user of the sandbox', { skip }, async () => {
  chmodSync(canaryFile, 0o600)
  const folder = mkdtempSync(join(scratch, 'out-'))
  const { program, args, environment } = await new Sandbox('require').command({
    entry: canaryFile,
    nodeFlags: ['--eval', 'process.stdout.write(require("fs").readFileSync(process.argv[1]))'],
    input: { path: canaryFile, isAlone: true },
    folder,
    program: null,
    limits: { fileBytes: 1 << 20, dataMegabytes: 2000, processorSeconds: 60 },
  })
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  assert.equal(await text(child.stdout!), SECRET)
})

test('a file for its owner alone is compiled, also by an attempt that can be resumed', { skip }, async () => {
  const place = mkdtempSync(join(scratch, 'resumed-'))
  const path = join(place, 'a.csv')
  writeFileSync(path, 'id,name\n1,a\n', { mode: 0o600 })
  const kept = join(place, 'kept')
  mkdirSync(kept)
  const resume = { folder: kept, version: '1', minRows: 1 }
  for (const options of [{}, { resume }]) {
    const folder = mkdtempSync(join(place, 'out-'))
    const sandbox = new Sandbox('require')
    const { manifest } = await compileInChildProcess(
      { path, folder, ...options },
      undefined,
      undefined,
      sandbox,
    )
    assert.equal(manifest.rows, 1)
    assert.equal(existsSync(join(folder, 'manifest.json')), true)
  }
  // An attempt that is killed after reading leaves its rows; the next one reads a new copy of the same file.
  const isSorting = new AbortController()
  const interrupt = ({ phase }: { phase: string }) => phase !== 'reading' && isSorting.abort()
  const folder = mkdtempSync(join(place, 'out-'))
  // The process waits here for a reader: it would compile a row before it is killed.
  execFileSync('mkfifo', ['--mode=666', join(folder, 'features.pack')])
  const attempt = (onProgress: (progress: CompileProgress) => void, signal?: AbortSignal) =>
    compileInChildProcess({ path, folder, resume }, onProgress, signal, new Sandbox('require'))
  await assert.rejects(attempt(interrupt, isSorting.signal))
  const phases: string[] = []
  await attempt(({ phase }) => void phases.push(phase))
  assert.equal(phases.includes('reading'), false, phases.join())
})

test('only files that belong to the input are visible beside it, and no links', async () => {
  const folder = mkdtempSync(join(scratch, 'siblings-'))
  for (const name of ['a.shp', 'A.DBF', 'a.shp.xml', 'ab.shp', 'a.gpkg-wal', 'other.csv'])
    writeFileSync(join(folder, name), '')
  const { symlinkSync } = await import('node:fs')
  symlinkSync(canaryFile, join(folder, 'a.prj'))
  const names = async (name: string, isAlone: boolean) =>
    (await inputBinds({ path: join(folder, name), isAlone }))
      .map(({ target }) => target.slice(folder.length + 1))
      .sort()
  assert.deepEqual(await names('a.shp', false), ['A.DBF', 'a.gpkg-wal', 'a.shp', 'a.shp.xml'])
  assert.deepEqual(await names('a.shp', true), ['a.shp'])
  symlinkSync(join(folder, 'a.shp'), join(folder, 'link.gpkg'))
  writeFileSync(join(folder, 'a.shp-wal'), '')
  assert.deepEqual(await names('link.gpkg', false), ['link.gpkg', 'link.gpkg-wal'])
})

test('a sandbox that is required and does not work refuses with the reason', async () => {
  const path = process.env['PATH']
  process.env['PATH'] = scratch
  try {
    const sandbox = new Sandbox('require')
    await assert.rejects(
      sandbox.requireWanted(),
      (error) =>
        error instanceof SandboxUnavailableError && /bubblewrap is not installed/.test(error.message),
    )
    const { layers, isClosed } = await new Sandbox('auto').state()
    assert.equal(isClosed, false)
    assert.ok(layers.includes('Node’s permissions'))
    assert.equal(existsSync(join(scratch, 'written')), false)
  } finally {
    process.env['PATH'] = path
  }
})
