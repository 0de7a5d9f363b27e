import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { LogWriter } from './log-writer.ts'

const logger = JSON.stringify(new URL('./logger.ts', import.meta.url).href)
const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '--eval']

function startProgram(program: string) {
  const start = `import { makeLogger } from ${logger}\nconst log = makeLogger('info', undefined, 'json')\n`
  return spawn(process.execPath, [...flags, start + program], { stdio: ['pipe', 'pipe', 'pipe'] })
}

function parsed(lines: string): { i: number; msg: string; lostBytes?: number }[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('lines of any length and in any letters are written completely and in order until the process ends', async () => {
  const child = startProgram(`
    const texts = ['caf\\u00e9 \\u{1f30d}', 'long '.repeat(50), '\\u00fc'.repeat(70_000), '\\u20ac'.repeat(30_000)]
    for (let i = 0; i < 1000; i++) log.info({ i }, i === 7 || i === 600 ? texts[2 + (i % 2)] : texts[i % 2])
  `)
  const lines = parsed(await text(child.stderr))
  assert.deepEqual(
    lines.map(({ i }) => i),
    Array.from({ length: 1000 }, (_, i) => i),
  )
  assert.equal(lines[0]!.msg, 'caf\u00e9 \u{1f30d}')
  assert.equal(lines[1]!.msg.length, 250)
  assert.equal(lines[7]!.msg, '\u20ac'.repeat(30_000))
  assert.equal(lines[600]!.msg, '\u00fc'.repeat(70_000))
})

test('the last line before process.exit is written', async () => {
  const child = startProgram(`log.info('first'); log.info('last'); process.exit(3)`)
  const ended = once(child, 'exit')
  const lines = parsed(await text(child.stderr))
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['first', 'last'],
  )
  assert.deepEqual(await ended, [3, null])
})

test('a reader that stalls costs bounded memory, and learns how much it has missed', async () => {
  const child = startProgram(`
    const kilobyte = 'x'.repeat(1000)
    for (let i = 0; i < 40_000; i++) log.info({ i }, kilobyte)
    console.log('logged')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    log.info({ i: 40_000 }, 'after')
    process.stdin.destroy()
  `)
  await once(child.stdout, 'data')
  const lines = text(child.stderr)
  child.stdin.write('go on')
  const all = parsed(await lines)
  const loss = all.findIndex(({ lostBytes }) => lostBytes !== undefined)
  // At most 16 MB were kept and nothing before the loss is missing; the rest is counted.
  assert.ok(loss > 10_000 && loss < 16_777, `${loss} lines before the loss`)
  assert.deepEqual(
    all.slice(0, loss).map(({ i }) => i),
    Array.from({ length: loss }, (_, i) => i),
  )
  assert.ok(all[loss]!.lostBytes! > 20_000_000, `${all[loss]!.lostBytes}`)
  const rest = all.slice(loss + 1)
  assert.deepEqual(
    rest.map(({ i }) => i),
    Array.from(rest, (_, at) => 40_001 - rest.length + at),
  )
  assert.equal(rest.at(-1)!.msg, 'after')
})

test('a process has one listener for its end, however many writers it opens', () => {
  new LogWriter(() => {})
  const before = process.listenerCount('exit')
  for (let i = 0; i < 12; i++) new LogWriter(() => {})
  assert.equal(process.listenerCount('exit'), before)
})
