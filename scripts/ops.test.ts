import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../server/src/base/settings/settings.ts'
import { lacks } from './test-run/needs.ts'
import { findProgram } from './test-servers/debian.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, 'ops', file), 'utf8')
const variables = new Set<string>(Object.values(settings).map(({ variable }) => variable))

test('every setting that a file of ops/ names exists', () => {
  const files = globSync('{container,systemd,kubernetes}/*', { cwd: join(root, 'ops') })
  assert.ok(files.length > 9)
  for (const file of files) {
    for (const [name] of read(file).matchAll(/\bWAYLEAVE_[A-Z0-9_]+\b/g))
      assert.ok(variables.has(name), `ops/${file} names ${name}`)
  }
})

test('the image runs without root, with tini, a health check and a volume, and installs the packed program', () => {
  const lines = read('container/Containerfile')
  const last = lines.slice(lines.lastIndexOf('\nFROM '))
  assert.match(last, /^USER 10001:10001$/m)
  assert.match(last, /^VOLUME \/data$/m)
  assert.match(last, /^HEALTHCHECK .*\\\n {2}CMD \["node", /m)
  assert.match(last, /^ENTRYPOINT \["\/usr\/bin\/tini", "--", "wayleave"\]$/m)
  assert.match(lines, /COPY dist\/release\/wayleave-\[0-9\]\*\.tgz/)
  // The health check is JavaScript in JSON.
  const [, check] = /^ {2}CMD (\[.*\])$/m.exec(lines)!
  const [program, flag, script] = JSON.parse(check!)
  assert.deepEqual([program, flag], ['node', '--eval'])
  const env = { ...process.env, WAYLEAVE_PORT: '1' }
  assert.equal(spawnSync(process.execPath, [flag, script], { env }).status, 1)
})

test('the composition has two read-only nodes behind nginx, and needs every secret to be set', () => {
  const { services, volumes } = parse(read('container/compose.yaml'), { merge: true })
  const names = ['node-1', 'node-2', 'proxy', 'database', 'redis', 'store', 'bucket']
  assert.deepEqual(Object.keys(services), names)
  for (const name of ['node-1', 'node-2']) {
    const node = services[name]
    assert.equal(node.read_only, true)
    assert.deepEqual(node.cap_drop, ['ALL'])
    assert.equal(node.ports, undefined, 'only the proxy can be reached')
    for (const needed of Object.keys(node.depends_on)) assert.ok(services[needed], needed)
    for (const volume of node.volumes) assert.ok(volume.split(':')[0] in volumes, volume)
  }
  assert.deepEqual(services.proxy.ports, ['127.0.0.1:8080:8080'])
  const example = read('container/example.env')
  for (const [, name] of read('container/compose.yaml').matchAll(/\$\{(\w+)/g))
    assert.match(example, new RegExp(`^${name}=`, 'm'), `example.env lacks ${name}`)
  for (const secret of ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'STORE_SECRET', 'WAYLEAVE_SECRET_KEY'])
    assert.ok(read('container/compose.yaml').includes(`\${${secret}:?}`), secret)
})

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-ops-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('nginx accepts its configuration, if it is installed', { skip: lacks('tools') }, (t) => {
  const nginx = findProgram('nginx', '/usr/sbin/nginx')
  if (!nginx) return t.skip('nginx is not installed')
  const folder = temporaryFolder(t)
  const text = read('container/nginx.conf')
    .replaceAll(/node-[12]:/g, '127.0.0.1:')
    .replace('/var/run/', `${folder}/`)
  writeFileSync(join(folder, 'nginx.conf'), text)
  const { status, stderr } = spawnSync(nginx, ['-t', '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
})

test('systemd accepts the unit, and rates its exposure as low', { skip: lacks('tools') }, (t) => {
  const analyze = findProgram('systemd-analyze')
  if (!analyze) return t.skip('systemd is not installed')
  const folder = temporaryFolder(t)
  // The program has to exist for systemd to accept the unit.
  const program = join(folder, 'wayleave')
  mkdirSync(folder, { recursive: true })
  copyFileSync('/bin/true', program)
  const unit = join(folder, 'wayleave.service')
  writeFileSync(unit, read('systemd/wayleave.service').replace('/opt/wayleave/bin/wayleave', program))
  const verified = spawnSync(analyze, ['verify', '--man=no', unit], { encoding: 'utf8' })
  const own = verified.stderr.split('\n').filter((line) => line.includes('wayleave'))
  assert.deepEqual([verified.status, own], [0, []], verified.stderr)
  const security = spawnSync(analyze, ['security', '--offline=true', '--threshold=30', unit], {
    encoding: 'utf8',
  })
  assert.equal(security.status, 0, security.stdout + security.stderr)
})

test('a file is published in the sandbox, with only the system calls that the unit allows', {
  skip: lacks('tools'),
}, (t) => {
  if (!findProgram('systemd-analyze')) return t.skip('systemd is not installed')
  const folder = temporaryFolder(t)
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, 10001, 10001)
  const source = join(folder, 'places.csv')
  writeFileSync(source, 'name,longitude,latitude\nUtrecht,5.12,52.09\n')
  const runAsUnit = (...args: string[]) =>
    spawnSync(
      'python3',
      [
        join(import.meta.dirname, 'test-servers', 'run_as_unit.py'),
        join(root, 'ops', 'systemd', 'wayleave.service'),
        process.execPath,
        ...args,
      ],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], WAYLEAVE_SANDBOX: 'require' } },
    )
  const program = join(root, 'server', 'bin', 'wayleave.js')
  const data = join(folder, 'data')
  const published = runAsUnit(
    program,
    'publish',
    source,
    '--table=places',
    '--build-exports',
    '--data-dir',
    data,
  )
  assert.equal(published.status, 0, published.stderr)
  // Links may begin with an address of the machine, and work is done below the priority of requests.
  const script = 'os.setPriority(5); console.log(Object.keys(os.networkInterfaces()).length > 0)'
  const calls = runAsUnit('--eval', script)
  assert.equal(calls.stdout.trim(), 'true', calls.stderr)
  // What the unit does not allow is refused: the filter is in force.
  const refused = runAsUnit('--eval', `fs.chownSync('${folder}', process.getuid(), process.getgid())`)
  assert.notEqual(refused.status, 0)
})

test('the Kubernetes manifests run two restricted nodes with probes and a disruption budget', () => {
  const files = parse(read('kubernetes/kustomization.yaml')).resources as string[]
  const documents = files.flatMap((file) =>
    parseAllDocuments(read(`kubernetes/${file}`)).map((document) => {
      assert.deepEqual(document.errors, [], file)
      return document.toJS()
    }),
  )
  const of = (kind: string) => documents.find((document) => document.kind === kind)
  const { replicas, template, selector } = of('Deployment').spec
  const [container] = template.spec.containers
  assert.ok(replicas >= 2)
  const { path, port } = container.readinessProbe.httpGet
  assert.deepEqual([path, port], ['/ready', 'http'])
  assert.equal(container.livenessProbe.httpGet.path, '/health')
  assert.equal(container.securityContext.readOnlyRootFilesystem, true)
  assert.equal(template.spec.securityContext.runAsNonRoot, true)
  const labels = { 'app.kubernetes.io/name': 'wayleave' }
  assert.deepEqual(selector.matchLabels, labels)
  assert.deepEqual(template.metadata.labels, labels)
  assert.deepEqual(of('PodDisruptionBudget').spec.selector.matchLabels, labels)
  assert.ok(of('PodDisruptionBudget').spec.minAvailable < replicas)
  assert.deepEqual(of('Service').spec.selector, labels)
  const secret = parse(read('kubernetes/secret.example.yaml'))
  assert.deepEqual(
    container.envFrom.map((from: Record<string, { name: string }>) => Object.values(from)[0]!.name),
    [of('ConfigMap').metadata.name, secret.metadata.name],
  )
  // A probe must notice a drain before the node stops to accept connections.
  const drain = Number(of('ConfigMap').data.WAYLEAVE_DRAIN_SECONDS)
  assert.ok(drain > container.readinessProbe.periodSeconds * 2)
  assert.ok(template.spec.terminationGracePeriodSeconds >= drain + 40)
})
