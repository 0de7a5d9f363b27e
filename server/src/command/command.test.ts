import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Command } from 'commander'
import { testedProgram } from '../../../scripts/program/tested-program.ts'
import { needs } from '../../../scripts/test-run/needs.ts'
import { newId } from '../base/id.ts'
import { documentedExamples } from '../testing/documented-examples.ts'
import { runCommand, runProgramFile } from '../testing/processes/run-command.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { addressCommand } from './accounts/address.ts'
import { keyCommand } from './accounts/key.ts'
import { refundWords } from './accounts/order.ts'
import { orgCommand } from './accounts/org.ts'
import { userCommand } from './accounts/user.ts'
import { webhookCommand } from './accounts/webhook.ts'
import { commandLinePage } from './command-line-page.ts'
import { jobCommand } from './datasets/job.ts'
import { backupCommand } from './operate/backup.ts'
import { databaseCommand } from './operate/database.ts'
import { doctorCommand } from './operate/doctor.ts'
import { pruneCommand } from './operate/prune.ts'
import { restoreCommand } from './operate/restore.ts'
import { verifyCommand } from './operate/verify.ts'
import { makeProgram } from './program.ts'

needs('processes')

test('a reader that closes its pipe early, as head does, is not an error', async () => {
  const child = spawn(process.execPath, [testedProgram(), 'restore', '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const ended = once(child, 'exit')
  const stderr = await text(child.stderr)
  assert.deepEqual([(await ended)[0], stderr], [0, ''])
})

test('wrong usage exits with 2 and changes nothing', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  for (const [args, message] of [
    [['job', 'list', '--limit', 'many'], /--limit.*1 to 10000/],
    [['job', 'list', '--limit', '0'], /--limit.*1 to 10000/],
    [['describe', 'places'], /Say what to change/],
    [['describe', 'places', '--title', ''], /title cannot be empty/],
    [['tiles', 'places', '--version', 'newest'], /--version.*whole number/],
    [['publish', '-', '--table', 'places', '--longitude', 'x'], /--longitude and --latitude/],
    [['org', 'suspend', newId('org'), '--reason', 'two\nlines'], /--reason.*one line of up to 500/s],
    [['user', 'block', newId('usr'), '--reason', ''], /--reason.*one line of up to 500/s],
    [['address', 'block', '192.0.2.7', '--reason', 'x'.repeat(501)], /--reason.*one line of up to 500/s],
  ] as const) {
    const { code, stderr } = await runCommand(place, ...args)
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, message)
  }
})

test('with --json, wrong usage is one document with one sentence', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const { code, json } = await runCommand(place, 'org', 'suspend', newId('org'), '--json')
  assert.deepEqual([code, json], [2, { error: "required option '--reason <text>' not specified" }])
})

test('a folder without a service is an error, not a new service', async (t) => {
  const folder = temporaryFolder(t)
  for (const dataDir of [folder, 'misspelt']) {
    for (const args of [
      ['org', 'list'],
      ['datasets'],
      ['verify'],
      ['gc'],
      ['storage', 'check'],
      ['backup', join(folder, 'backup')],
    ]) {
      const { code, stderr } = await runCommand(
        { dataDir: folder, databaseUrl: null },
        ...args,
        '--data-dir',
        dataDir,
      )
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, /There is no service in .*--data-dir/)
    }
  }
  assert.deepEqual(readdirSync(folder), [])
})

test('every command takes --json and --data-dir, and its help ends with examples of itself', () => {
  const groups = [orgCommand(), keyCommand(), userCommand(), jobCommand(), addressCommand(), webhookCommand()]
  const commands = groups.flatMap((group) => group.commands.map((command) => [group, command] as const))
  assert.equal(commands.length, 38)
  for (const [group, command] of commands) {
    const help = helpOf(command)
    assert.match(help, /--json/)
    assert.match(help, /--data-dir/)
    const examples = help.split('\nExamples:\n')[1]!.trimEnd().split('\n')
    for (const example of examples) {
      assert.ok(example.startsWith(`  wayleave ${group.name()} ${command.name()}`), example)
    }
  }
})

test('the page of the command line is what the commands say: run `npm run docs`', () => {
  const file = new URL('../../../docs/command-line.md', import.meta.url)
  assert.equal(readFileSync(file, 'utf8'), commandLinePage())
})

test('every example on the pages of the command line and of sources is understood', async () => {
  const pages = ['command-line.md', 'sources.md']
  const examples = documentedExamples().filter(({ page }) => pages.includes(page))
  const lines = examples.flatMap(({ code }) => code.trim().split('\n'))
  assert.ok(lines.length > 70)
  for (const line of lines) {
    // Without what the shell does: redirections, and the substitution of a process.
    const text = line
      .replace(/^source <\((.*)\)$/, '$1')
      .replace(/ [<>] .*$/, '')
      .replace(/^npx /, '')
    const [name, ...words] = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain!,
    )
    assert.equal(name, 'wayleave', line)
    const program = makeProgram()
    let isRun = false
    for (const command of leavesOf(program)) {
      command.action(() => {
        isRun = true
      })
    }
    await program.parseAsync(words, { from: 'user' })
    assert.ok(isRun, line)
  }
})

test('the program makes only the command that is named, and all of them for help and completion', () => {
  const namesOf = (name?: string) => makeProgram({}, name).commands.map((command) => command.name())
  const all = namesOf()
  assert.ok(all.includes('serve') && all.includes('storage'))
  for (const name of all) assert.deepEqual(namesOf(name), name === 'completion' ? all : [name])
  for (const other of ['--help', 'help', 'serv', 'constructor']) assert.deepEqual(namesOf(other), all, other)
})

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

test('maintenance commands take --json and --data-dir too, and end with examples', () => {
  const single = [backupCommand(), restoreCommand(), verifyCommand(), doctorCommand(), pruneCommand()]
  for (const command of [...single, ...databaseCommand().commands]) {
    const help = helpOf(command)
    assert.match(help, /--json/)
    assert.match(help, /--data-dir/)
    for (const example of help.split('\nExamples:\n')[1]!.trimEnd().split('\n')) {
      assert.match(example, new RegExp(`^  wayleave (database )?${command.name()}`))
    }
  }
})

test('the operator makes organizations, members, grants and keys, and lists them', async (t) => {
  const dataDir = temporaryFolder(t)
  // One command of each group runs in a process of its own.
  const alone = ['org create', 'user list', 'key create']
  const run = async (...args: string[]) => {
    const start = alone.includes(args.slice(0, 2).join(' ')) ? runProgramFile : runCommand
    const result = await start({ dataDir, databaseUrl: null }, ...args, '--json')
    assert.equal(result.code, 0, result.stderr)
    assert.equal(result.stderr, '')
    assert.equal(result.stdout, `${JSON.stringify(result.json)}\n`)
    return result.json
  }
  const organization = await run('org', 'create', 'City of Utrecht')
  const fields = [
    'id',
    'name',
    'addOns',
    'credits',
    'members',
    'createdAt',
    'suspendedAt',
    'suspendReason',
    'publishing',
  ]
  assert.deepEqual(Object.keys(organization), fields)
  const { id } = organization
  assert.deepEqual((await run('org', 'add-on', id, 'GIS_ACCESS', 'API_ACCESS')).addOns, [
    'API_ACCESS',
    'GIS_ACCESS',
  ])
  assert.deepEqual((await run('org', 'add-on', id, 'GIS_ACCESS', 'ARCHIVED_DATA', '--remove')).addOns, [
    'API_ACCESS',
  ])
  assert.deepEqual((await run('org', 'credits', id, '--add', '500')).credits, { balance: 500 })
  assert.deepEqual((await run('org', 'credits', id, '--set', '7')).credits, { balance: 7 })
  const first = await run('org', 'member', id, 'Ada@Example.org')
  assert.equal(first.email, 'ada@example.org')
  assert.equal(first.permissions.length, 6)
  const second = await run('org', 'member', id, 'bob@example.org', '--permission', 'APIKEY_VIEW')
  assert.deepEqual(second.permissions, ['APIKEY_VIEW'])
  const { data: organizations } = await run('org', 'list')
  assert.deepEqual(organizations, [
    { ...organization, addOns: ['API_ACCESS'], credits: { balance: 7 }, members: 2 },
  ])
  const { data: users } = await run('user', 'list')
  assert.deepEqual(
    users.map((user: { email: string; organizationId: string }) => [user.email, user.organizationId]),
    [
      ['ada@example.org', id],
      ['bob@example.org', id],
    ],
  )

  const key = await run('key', 'create', '--platform', '--name', 'Nightly', '--permissions', 'read,write')
  assert.deepEqual(Object.keys(key), [
    'id',
    'name',
    'scope',
    'permissions',
    'secret',
    'expiresAt',
    'createdAt',
  ])
  assert.equal(key.scope, 'platform')
  const lists = ['--allowed-origins', 'https://a.example, https://*.b.example', '--allowed-addresses', '::1']
  const page = await run('key', 'create', '--platform', '--name', 'Page', '--permissions', 'read', ...lists)
  const [listed] = (await run('key', 'list')).data
  assert.deepEqual(listed.allowedOrigins, ['https://a.example', 'https://*.b.example'])
  assert.deepEqual(listed.allowedAddresses, ['::1/128'])
  await run('key', 'rotate', page.id, '--overlap', '60')
  assert.ok(page.secret.startsWith((await run('key', 'list')).data[0].previousSecret.prefix))
  await run('key', 'delete', page.id)
  const rotated = await run('key', 'rotate', key.id)
  assert.deepEqual(Object.keys(rotated), ['id', 'secret', 'rotatedAt'])
  assert.equal((await run('key', 'revoke', key.id)).status, 'revoked')
  assert.equal((await run('key', 'list')).data.length, 1)
  assert.deepEqual(await run('key', 'delete', key.id), { id: key.id })
  assert.deepEqual(await run('key', 'list'), { data: [] })
})

test('without --json, commands print sentences and tables', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const created = await runCommand(place, 'org', 'create', 'Utrecht')
  assert.match(created.stdout, /^Created organization org_\w{20} \(Utrecht\)\.\n$/)
  const users = await runCommand(place, 'user', 'list')
  assert.equal(users.stdout, 'There are no users yet.\n')
  const { stdout } = await runCommand(place, 'org', 'list')
  assert.match(stdout, /^ID +NAME +ADD-ONS +CREDITS +MEMBERS\norg_\w{20} {2}Utrecht {2}- +0 +0\n$/)
})

test('wrong usage exits 2, a failure exits 1, and each says why', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const unknown = newId('org')
  const cases: [code: number, says: RegExp, ...args: string[]][] = [
    [2, /Usage: wayleave org/, 'org'],
    [2, /unknown option '--bogus'/, 'org', 'list', '--bogus'],
    [2, /name/, 'org', 'create', '  '],
    [2, /Allowed choices are API_ACCESS/, 'org', 'add-on', unknown, 'FREE'],
    [2, /give one of --add/, 'org', 'credits', unknown],
    [2, /whole number from 1/, 'org', 'credits', unknown, '--add', '0'],
    [2, /must be one of APIKEY_VIEW/, 'org', 'member', unknown, 'a@example.org', '--permission', 'ALL'],
    [2, /number of seconds up to 604800/, 'key', 'rotate', newId('key'), '--overlap', '604801'],
    [2, /give --platform/, 'key', 'create', '--name', 'x', '--permissions', 'read'],
    [1, /There is no such organization/, 'org', 'credits', unknown, '--add', '1'],
  ]
  for (const [code, says, ...args] of cases) {
    const result = await runCommand(place, ...args)
    assert.equal(result.code, code, args.join(' '))
    assert.match(result.stderr, says)
    assert.equal(result.stdout, '')
  }
  const json = await runProgramFile(place, 'key', 'revoke', newId('key'), '--json')
  assert.deepEqual([json.code, json.json], [1, { error: 'There is no such key.' }])
  const usage = await runProgramFile(place, 'org', 'list', '--bogus')
  assert.deepEqual([usage.code, usage.stdout], [2, ''])
})

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
  })
  command.outputHelp()
  return text
}

test('the operator sells products and handles orders', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(place, ...args, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const fields = ['--name', 'Pack', '--price', '1900', '--currency', 'EUR', '--credits', '100']
  const pack = await json('product', 'add', '--kind', 'pack', ...fields)
  assert.deepEqual([pack.kind, pack.price, pack.currency, pack.credits], ['pack', 1900, 'EUR', 100])
  const changed = await json('product', 'change', pack.id, '--price', '2400')
  assert.deepEqual([changed.revision, changed.price, changed.name], [2, 2400, 'Pack'])
  assert.ok((await json('product', 'retire', pack.id)).retiredAt)
  assert.equal((await json('product', 'list')).data.length, 1)
  assert.deepEqual((await json('order', 'list', '--state', 'open')).data, [])
  for (const args of [
    ['product', 'add', '--kind', 'plan', ...fields],
    ['product', 'add', '--kind', 'pack', ...fields, '--period', 'month'],
    [
      'product',
      'add',
      '--kind',
      'pack',
      '--name',
      'x',
      '--price',
      '1.5',
      '--currency',
      'EUR',
      '--credits',
      '1',
    ],
    [
      'product',
      'add',
      '--kind',
      'pack',
      '--name',
      'x',
      '--price',
      '1',
      '--currency',
      'EUX',
      '--credits',
      '1',
    ],
  ])
    assert.equal((await runCommand(place, ...args)).code, 2, args.join(' '))
  assert.equal((await runCommand(place, 'order', 'paid', newId('ord'))).code, 1)
  const money = { amount: 1900, currency: 'EUR' }
  assert.match(refundWords({ state: 'paid', refundedAmount: 100, ...money }), /in part: 100 of 1900/)
  assert.equal(refundWords({ state: 'refunded', refundedAmount: 1900, ...money }), 'is refunded')
})
