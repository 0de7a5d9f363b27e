/**
 * Does what malicious code from a file would do in the process that reads it. It runs in place of the
 * compiler and reports, for each attempt, what it got or how it was refused.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

interface Targets {
  canaryFile: string
  canaryPort: number
  parent: number
  input: string
  folder: string
  /** The attempts to make; all of them harm a machine without a sandbox. */
  only: string[] | null
}

const targets = JSON.parse(readFileSync(0, 'utf8')) as Targets
const { canaryFile, canaryPort, parent, input, folder, only } = targets
const shell = (script: string) => execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', stdio: 'pipe' })

const attempts: { [name: string]: () => unknown } = {
  'own input': () => readFileSync(input, 'utf8'),
  'own folder': () => writeFileSync(`${folder}/written`, 'x'),
  'a file, by Node': () => readFileSync(canaryFile, 'utf8'),
  'a file, by another program': () => shell(`cat ${canaryFile}`),
  'a file, by SQLite': () => {
    const database = new DatabaseSync(`${folder}/a.db`)
    database.exec(`ATTACH '${canaryFile}' AS other`)
    return database.prepare('SELECT * FROM other.sqlite_master').all()
  },
  'a file, through a link': () => {
    shell(`ln -s ${canaryFile} ${folder}/link`)
    return readFileSync(`${folder}/link`, 'utf8')
  },
  'the environment of the service': () => shell(`cat /proc/${parent}/environ`),
  'the own environment': () => JSON.stringify(process.env),
  'the processes': () => readdirSync('/proc'),
  'the accounts': () => shell('cat /etc/passwd /etc/shadow'),
  'the network, by Node': async () => {
    const socket = connect(canaryPort, '127.0.0.1')
    await Promise.race([
      once(socket, 'connect'),
      once(socket, 'error').then(([error]) => Promise.reject(error)),
    ])
    return 'connected'
  },
  'the network, by another program': () => shell(`exec 3<>/dev/tcp/127.0.0.1/${canaryPort} || echo no`),
  'writing to the input': () => writeFileSync(input, 'changed'),
  'writing elsewhere': () => shell('echo x > /written || echo x > /dev/shm/written'),
  'a link, by Node': () => symlinkSync(canaryFile, `${folder}/other-link`),
  'a signal to the service': () => process.kill(parent, 0),
  'the capabilities': () => shell('setpriv --dump || true'),
  'a large file': () => writeFileSync(`${folder}/large`, Buffer.alloc(4 << 20)),
  'many processes': () =>
    shell('i=0; while [ $i -lt 3000 ]; do sleep 60 >/dev/null 2>&1 & i=$((i+1)); done; echo all'),
  'much memory': () => Buffer.alloc(3 * 2 ** 30, 1).length,
}

const results: { [name: string]: string } = {}
for (const [name, attempt] of Object.entries(attempts)) {
  if (only !== null && !only.includes(name)) continue
  try {
    results[name] = `got ${String(await attempt())}`
  } catch (error) {
    results[name] = `refused ${(error as Error).message.slice(0, 200)}`
  }
}
writeSync(3, JSON.stringify(results))
process.exit()
