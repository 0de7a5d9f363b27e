import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testedProgram } from '../../../../scripts/program/tested-program.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { points } from '../../testing/publish.ts'
import { temporaryFolder } from '../../testing/test-server.ts'

needs('processes', 'tools')

const CALLS = 'trace=fsync,fdatasync,rename,renameat,renameat2'

/** The syncs and renames of all threads and processes, in order: `sync <path>` and `rename <from> <to>`. */
function readTrace(path: string): string[] {
  const calls: string[] = []
  const pending = new Map<string, string>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, thread, call] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (!thread || !call) continue
    // A call counts when it returns. strace splits it into two lines if another thread's call comes in
    // between.
    if (call.endsWith('<unfinished ...>')) {
      pending.set(thread, call)
      continue
    }
    const whole = call.startsWith('<...') ? `${pending.get(thread)} ${call}` : call
    if (!whole.trimEnd().endsWith('= 0')) continue
    const synced = /^f(?:data)?sync\(\d+<([^>]*)>/.exec(whole)
    if (synced) calls.push(`sync ${synced[1]}`)
    const [from, to] = whole.startsWith('rename') ? [...whole.matchAll(/"([^"]*)"/g)].map((m) => m[1]) : []
    if (from && to) calls.push(`rename ${from} ${to}`)
  }
  return calls
}

function runTraced(trace: string, args: string[]): void {
  const options = ['-f', '-y', '-s', '4096', '-e', CALLS, '-o', trace]
  const { status, stderr } = spawnSync('strace', [...options, process.execPath, ...args], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
}

test('every file of a snapshot and its folder are synced before the rename, and the parent after it', (t) => {
  const dataDir = temporaryFolder(t)
  const folder = temporaryFolder(t)
  const source = join(folder, 'places.geojson')
  writeFileSync(source, points(50))
  const trace = join(folder, 'trace')
  const flags = ['--table', 'places', '--build-exports', '--data-dir', dataDir]
  runTraced(trace, [testedProgram(), 'publish', source, ...flags])
  const calls = readTrace(trace)
  const snapshot = join(dataDir, 'snapshots', readdirSync(join(dataDir, 'snapshots'))[0]!)
  const renamed = calls.findIndex((call) => call.startsWith('rename') && call.endsWith(` ${snapshot}`))
  assert.ok(renamed > 0)
  const made = calls[renamed]!.split(' ')[1]!
  const before = calls.slice(0, renamed)
  for (const name of readdirSync(snapshot)) {
    if (name !== 'exports') assert.ok(before.includes(`sync ${join(made, name)}`), name)
  }
  assert.ok(before.includes(`sync ${made}`))
  assert.ok(calls.slice(renamed).includes(`sync ${join(dataDir, 'snapshots')}`))
  assert.ok(before.includes(`sync ${dataDir}`), 'the new folder of snapshots')

  const exports = join(made, 'exports')
  const finished = readdirSync(join(snapshot, 'exports')).filter((name) => !name.startsWith('lock'))
  assert.ok(finished.some((name) => name.endsWith('.meta.json')))
  for (const name of finished) {
    const named = before.findIndex((call) => call.endsWith(` ${join(exports, name)}`))
    const partial = before[named]?.split(' ')[1]
    assert.ok(before.slice(0, named).includes(`sync ${partial}`), name)
    assert.ok(before.slice(named).includes(`sync ${exports}`), name)
  }
  const firstExport = before.findIndex((call) => call.startsWith('rename') && call.includes(exports))
  assert.ok(before.slice(0, firstExport).lastIndexOf(`sync ${made}`) > 0, 'the new folder of exports')
})

test('an upload and a mail are on the disk with their names when they are acknowledged', (t) => {
  const folder = temporaryFolder(t)
  const [upload, outbox, trace] = ['upload', 'outbox', 'trace'].map((name) => join(folder, name))
  const script = `
    import { Readable } from 'node:stream'
    import { receiveUpload } from ${JSON.stringify(import.meta.resolve('./upload-jobs/receive-upload.ts'))}
    import { OutboxMailer } from ${JSON.stringify(import.meta.resolve('../../base/mail/outbox-mailer.ts'))}
    await receiveUpload(Readable.from([Buffer.from('a,b')]), ${JSON.stringify(upload)}, { maxBytes: 100, minFreeBytes: 0 })
    const mailer = new OutboxMailer({
      folder: ${JSON.stringify(outbox)}, look: { from: 'a@example.org', service: 'Data', accent: '#0b6e5b' }, clock: () => new Date(0), log: console, print() {},
    })
    mailer.post({ to: 'b@example.org', subject: 'Sign in', before: [], after: [], label: 'Sign in', link: 'http://localhost/' })
    await mailer.close()`
  runTraced(trace!, ['--input-type=module', '-e', script])
  const calls = readTrace(trace!)
  const uploaded = calls.indexOf(`sync ${upload}`)
  assert.ok(uploaded >= 0)
  assert.equal(calls[uploaded + 1], `sync ${folder}`)
  const [mail] = readdirSync(outbox!)
  const named = calls.findIndex((call) => call.endsWith(` ${join(outbox!, mail!)}`))
  assert.equal(calls[named - 1], `sync ${join(outbox!, `.${mail}.part`)}`)
  assert.equal(calls[named + 1], `sync ${outbox}`)
  assert.ok(calls.slice(uploaded + 2, named).includes(`sync ${folder}`), 'the new folder of mails')
})
