import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { testedProgramArguments } from '../../scripts/program/tested-program.ts'
import { runInSharedProcess } from '../../server/src/testing/processes/shared-process.ts'

/** The real service on its own port, in a data folder that is removed with it. */
export class TestServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'wayleave-client-'))
  readonly dataDir = join(this.folder, 'data')
  readonly #environment: NodeJS.ProcessEnv
  readonly #settings: Record<string, string>
  #port = 0
  #stop = async () => {}

  constructor(settings: Record<string, string> = {}) {
    const others = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYLEAVE_'))
    this.#settings = {
      WAYLEAVE_DATA_DIR: this.dataDir,
      WAYLEAVE_KEY_RATE: '1000000',
      WAYLEAVE_TILES: 'false',
      WAYLEAVE_ADDRESS_RATE: '1000000',
      // To try the sandbox takes a process for every server.
      WAYLEAVE_SANDBOX: 'off',
      ...settings,
    }
    this.#environment = { ...Object.fromEntries(others), ...this.#settings }
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Uses the previous port if the server ran before. */
  async start(): Promise<void> {
    this.#port ||= await freePort()
    const log = join(this.folder, 'log')
    const output = openSync(log, 'a')
    const options: SpawnOptions = { env: this.#environment, stdio: ['ignore', output, output] }
    const child = spawn(
      process.execPath,
      [...testedProgramArguments(), 'serve', '--json', '--port', `${this.#port}`],
      options,
    )
    closeSync(output)
    const exited = once(child, 'exit')
    this.#stop = async () => {
      child.kill('SIGTERM')
      await exited
    }
    while (child.exitCode === null) {
      const health = await fetch(`${this.url}/health`).catch(() => null)
      if (health?.ok) return
      await delay(50)
    }
    throw new Error(`The service did not start:\n${readFileSync(log, 'utf8')}`)
  }

  stop(): Promise<void> {
    return this.#stop()
  }

  async close(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  // biome-ignore lint/suspicious/noExplicitAny: every command prints a different document.
  async command(...args: string[]): Promise<any> {
    const request = { args: [...args, '--json'], settings: this.#settings, cwd: this.folder }
    const { code, stdout, stderr } = await runInSharedProcess(request)
    if (code !== 0) throw new Error(`wayleave ${args.join(' ')}: ${stdout}${stderr}`)
    return JSON.parse(stdout)
  }

  async publish(table: string, features: object[], ...args: string[]): Promise<void> {
    const file = join(this.folder, `${table}.geojson`)
    writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features }))
    await this.command('publish', file, '--table', table, ...args)
  }

  /** Waits until the tiles of a dataset are built, for which a busy machine takes longer than a client waits. */
  async tilesOf(table: string, key: string): Promise<void> {
    const url = `${this.url}/v1/ogc/collections/${table}/tiles/WebMercatorQuad?f=tilejson`
    for (;;) {
      const { status } = await fetch(url, { headers: { 'x-api-key': key } })
      if (status === 200) return
      if (status !== 503) throw new Error(`${url} is ${status}.`)
      await delay(100)
    }
  }

  async platformKey(): Promise<string> {
    const args = ['key', 'create', '--platform', '--name', 'test', '--permissions', 'read,write']
    return (await this.command(...args)).secret
  }

  /** Creates a user with their own organization, signed in by mail as users do. */
  async signIn(email: string): Promise<TestAccount> {
    await this.post('/v1/auth/magic-link', { email })
    const token = await this.#mailedToken(email)
    const { accessToken } = await this.post('/v1/auth/token', { token })
    const headers = { authorization: `Bearer ${accessToken}` }
    const me = await fetch(`${this.url}/v1/organization/me`, { headers })
    const { id } = (await me.json()) as { id: string }
    return new TestAccount(this, id, headers)
  }

  // biome-ignore lint/suspicious/noExplicitAny: every route returns a different document.
  async post(path: string, body: object, headers: Record<string, string> = {}): Promise<any> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }

  async #mailedToken(email: string): Promise<string> {
    const { globSync } = await import('node:fs')
    for (let tries = 0; tries < 3000; tries++) {
      for (const mail of globSync('outbox/*.eml', { cwd: this.dataDir })) {
        const text = readFileSync(join(this.dataDir, mail), 'utf8')
        const token = text.includes(email) && /^https?:\S+#(\S+)$/m.exec(text)?.[1]
        if (token) return token
      }
      await delay(20)
    }
    throw new Error(`No mail to ${email} came.`)
  }
}

export class TestAccount {
  readonly #server: TestServer
  readonly #organizationId: string
  readonly #headers: Record<string, string>

  constructor(server: TestServer, organizationId: string, headers: Record<string, string>) {
    this.#server = server
    this.#organizationId = organizationId
    this.#headers = headers
  }

  async key(milliseconds?: number): Promise<string> {
    const expiresAt = milliseconds && new Date(Date.now() + milliseconds).toISOString()
    const body = { name: 'test', permissions: ['read'], ...(expiresAt ? { expiresAt } : {}) }
    return (await this.#server.post('/v1/api-keys/personal', body, this.#headers)).secret
  }

  async grant(addOns: string[], credits: number): Promise<void> {
    await this.#server.command('org', 'add-on', this.#organizationId, ...addOns)
    if (credits > 0) await this.#server.command('org', 'credits', this.#organizationId, '--set', `${credits}`)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Points spread over the world, deterministic. */
export function points(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'Feature',
    id: i + 1,
    properties: { number: i + 1, name: `Ort ${i + 1} – 村` },
    geometry: {
      type: 'Point',
      coordinates: [((i * 137.508) % 360) - 180, ((i * 73.123) % 180) - 90],
    },
  }))
}
