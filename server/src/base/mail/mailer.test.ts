import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { makeLogger } from '../../http/observability/logger.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { runProgramFile } from '../../testing/processes/run-command.ts'
import { askForLink } from '../../testing/sign-in.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { isLoopback } from '../loopback.ts'
import { readConfig } from '../settings/config.ts'
import { invitationMail, nameInMail, signInMail } from './mail-texts.ts'
import { checkMailSettings } from './mailer.ts'
import { requiresTls, SmtpMailer } from './smtp-mailer.ts'

interface Received {
  to: string[]
  source: string
  user: string | undefined
}

/** A real mail server on loopback. `refuse` returns how each message is rejected, or null to accept it. */
async function mailServer(
  t: TestContext,
  refuse: (attempt: number) => { code: number; text: string } | null = () => null,
  options: SMTPServerOptions = { authOptional: true },
) {
  const received: Received[] = []
  let attempts = 0
  const arrived = new EventTarget()
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'opensesame' ? done(null, { user: username }) : done(new Error('wrong')),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const refusal = refuse(attempts++)
        if (refusal) {
          done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
        } else {
          received.push({
            to: session.envelope.rcptTo.map((one) => one.address),
            source: Buffer.concat(chunks).toString(),
            user: session.user as string | undefined,
          })
          done()
        }
        arrived.dispatchEvent(new Event('attempt'))
      })
    },
    ...options,
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUp(t, () => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo
  return {
    port,
    received,
    attempts: () => attempts,
    untilAttempts: async (count: number) => {
      while (attempts < count) {
        await new Promise((resolve) => arrived.addEventListener('attempt', resolve, { once: true }))
      }
    },
  }
}

const LOOK = { from: 'Data <d@example.org>', service: 'Data', accent: '#0b6e5b' }
const mail = signInMail('ada@example.org', 'http://127.0.0.1:8080/sign-in#the-token-of-the-link', '123456')

function smtpMailer(t: TestContext, port: number, waits?: number[]) {
  const lines: string[] = []
  const log = makeLogger('debug', (line) => lines.push(line))
  const mailer = new SmtpMailer({ url: `smtp://127.0.0.1:${port}`, look: LOOK, log, waits })
  cleanUp(t, () => mailer.close())
  return { mailer, lines }
}

test('with a mail server the sign-in mail goes out by SMTP, signed in to it, and its link works', async (t) => {
  const smtp = await mailServer(t, undefined, { authOptional: false, allowInsecureAuth: true })
  const smtpUrl = `smtp://wayleave:opensesame@127.0.0.1:${smtp.port}`
  const settings = {
    smtpUrl,
    mailFrom: 'Data Portal <portal@example.org>',
    title: 'Données',
    accent: '#603080',
  }
  const service = await openTestServer(t, { settings })
  await service.request('POST', '/v1/auth/magic-link', { body: { email: 'Ada@example.org' } })
  await smtp.untilAttempts(1)
  const [message] = smtp.received
  assert.deepEqual([message!.to, message!.user], [['ada@example.org'], 'wayleave'])
  assert.match(message!.source, /^From: Data Portal <portal@example\.org>\r$/m)
  assert.match(message!.source, /^Content-Transfer-Encoding: 7bit\r$/m)
  assert.ok(!message!.source.includes('quoted-printable'))
  assert.ok(message!.source.split('\r\n').every((line) => line.length < 998))
  // The mail is of the service, whatever it is called, and has its color and a code that is easy to read.
  assert.match(message!.source, /<h1 [^>]*>Sign in to Donn&#233;es<\/h1>/)
  assert.match(message!.source, /background:#603080;/)
  assert.match(message!.source, /<p style="[^"]*letter-spacing[^"]*">\d{6}<\/p>/)
  assert.ok(!message!.source.includes('Wayleave'))
  const token = /^http:\S+#([\w-]{43})\r$/m.exec(message!.source)![1]!
  assert.equal((await service.request('POST', '/v1/auth/token', { body: { token } })).status, 200)
  assert.ok(!readdirSync(service.config.dataDir).includes('outbox'))
  const logged = service.logLines.join('\n')
  for (const secret of [token, 'opensesame']) assert.ok(!logged.includes(secret))
})

test('a mail server beyond loopback gets neither password nor link without TLS, unless a setting allows it', async (t) => {
  const smtp = await mailServer(t, undefined, { authOptional: false, allowInsecureAuth: true })
  // Loopback, written in a way that does not count as loopback.
  const url = `smtp://wayleave:opensesame@[::ffff:127.0.0.1]:${smtp.port}`
  const send = async (allowPlain: boolean) => {
    const lines: string[] = []
    const log = makeLogger('debug', (line) => lines.push(line))
    const mailer = new SmtpMailer({ url, look: LOOK, log, allowPlain, waits: [] })
    mailer.post(mail)
    await mailer.close()
    return mailer.results
  }
  assert.deepEqual(await send(false), { sent: 0, failed: 1 })
  assert.deepEqual([smtp.attempts(), smtp.received], [0, []])
  assert.deepEqual(await send(true), { sent: 1, failed: 0 })
  assert.equal(requiresTls('smtps://mail.example.org', false), false)
})

test('an organization’s name cannot carry an address or markup into a mail', () => {
  for (const [name, written] of [
    ['Ministère de l’Écologie & Co. (Paris)', 'Ministère de l’Écologie & Co. (Paris)'],
    ['Win at https://evil.example/x now', 'Win at https evil example x now'],
    ['<a href="x">evil.example</a>', 'a href="x" evil example a'],
    ['pay@evil.example', 'pay evil example'],
    ['A\r\nBcc: b@c.de', 'A Bcc b c de'],
    ['evil\u3002example', 'evil example'],
  ] as const) {
    assert.equal(nameInMail(name), written)
    const { subject, before } = invitationMail('a@example.org', 'http://x', name, 'b@example.org')
    assert.ok(subject.includes(written) && before[0]!.includes(`"${written}"`))
  }
})

test('a mail that the server puts off is tried again until it is taken', async (t) => {
  const smtp = await mailServer(t, (attempt) => (attempt < 2 ? { code: 451, text: 'Later' } : null))
  const { mailer } = smtpMailer(t, smtp.port, [1, 1, 1])
  mailer.post(mail)
  await smtp.untilAttempts(3)
  assert.equal(smtp.received.length, 1)
})

test('a mail refused permanently is dropped, and the log says so without its contents', async (t) => {
  const smtp = await mailServer(t, () => ({ code: 554, text: `No: ${mail.link} 123456` }))
  const { mailer, lines } = smtpMailer(t, smtp.port, [1, 1])
  mailer.post(mail)
  await smtp.untilAttempts(1)
  await mailer.close()
  assert.equal(smtp.attempts(), 1)
  const logged = lines.join('\n')
  assert.match(logged, /was discarded/)
  assert.match(logged, /554/)
  for (const part of ['the-token', '123456', 'ada@example.org']) assert.ok(!logged.includes(part))
})

test('an unreachable mail server delays no response and no stop', async (t) => {
  const { mailer, lines } = smtpMailer(t, 1, [60_000])
  mailer.post(mail)
  await mailer.close()
  assert.match(lines.join('\n'), /was discarded/)
})

test('without a mail server every mail is a whole file that only the operator can read', async (t) => {
  const service = await openTestServer(t)
  const { token } = await askForLink(service, 'ada@example.org')
  const outbox = join(service.config.dataDir, 'outbox')
  const names = readdirSync(outbox)
  assert.equal(names.length, 1)
  assert.match(names[0]!, /^\d{4}-\d\d-\d\dT[\d.-]+Z-[0-9a-f]{12}\.eml$/)
  assert.equal(statSync(join(outbox, names[0]!)).mode & 0o077, 0)
  assert.equal(statSync(outbox).mode & 0o077, 0)
  const logged = service.logLines.join('\n')
  assert.ok(logged.includes(`mails are written to ${outbox}`))
  assert.ok(!logged.includes(token))
})

test('a server that listens beyond loopback without a mail server refuses to start, with exit code 2', {
  skip: lacks('processes'),
}, async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  // An address of the documentation range: if the check were missing, listening on it would fail with code 1.
  const { code, stderr } = await runProgramFile(place, 'serve', '--host', '192.0.2.1', '--port', '0')
  assert.equal(code, 2)
  assert.match(stderr, /WAYLEAVE_SMTP_URL.*WAYLEAVE_ALLOW_OUTBOX/)
  assert.deepEqual(
    readdirSync(place.dataDir).filter((name) => name.endsWith('.db')),
    [],
  )

  const config = readConfig({ environment: {}, file: null, flags: { host: '0.0.0.0' } })
  assert.throws(() => checkMailSettings(config), { name: 'SettingError' })
  checkMailSettings({ ...config, allowOutbox: true })
  checkMailSettings({ ...config, smtpUrl: 'smtp://mail.example.org' })
})

test('loopback is what no other machine reaches', () => {
  for (const host of ['127.0.0.1', '127.8.0.1', '::1', 'localhost'])
    assert.equal(isLoopback(host), true, host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example', 'localhost.evil.example']) {
    assert.equal(isLoopback(host), false, host)
  }
})
