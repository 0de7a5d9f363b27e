import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import { buildClients } from '../clients/build-clients.ts'
import { lacks } from '../test-run/needs.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { dateChangelog, readChangelog, requireReleased } from './changelog.ts'
import { installedPackages, productionPackages } from './locked-packages.ts'
import { provenance } from './provenance.ts'
import { thirdPartyLicenses } from './third-party-licenses.ts'
import { commonVersion, readVersions, writeVersion } from './versions.ts'

const PLATFORM = /-(darwin|linux|win32|android|freebsd|openharmony|wasm32)\b/
/** It compiles the console's styles, and none of it is in what it makes. */
const isTool = (name: string) => name.startsWith('lightningcss')
/** MIT, BSD, ISC, Apache, PostgreSQL and what is as free as they are. */
const ACCEPTED =
  /^\(?(MIT|MIT-0|0BSD|BSD-\d-Clause|BSD|ISC|Apache-2\.0|PostgreSQL|BlueOak-1\.0\.0|Unlicense|CC0-1\.0|Python-2\.0)\b/
const root = join(import.meta.dirname, '../..')

test('every package, both clients, the lock file and the changelog have the same version', () => {
  const version = commonVersion(root)
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const own = Object.entries<{ version?: string; link?: boolean }>(packages).filter(
    ([path, { link }]) => !path.includes('node_modules/') && !link,
  )
  for (const [path, row] of own)
    assert.equal(row.version, version, `package-lock.json: ${path || 'the root'}`)
  const newest = readChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))[1]
  assert.equal(newest?.version, version)
})

test('the lists of the changelog have no gap, and no bullet twice', () => {
  for (const { body } of readChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))) {
    assert.doesNotMatch(body, /^- .*\n\n+- /m)
    const beginnings: string[] = body.match(/^- .{60}/gm) ?? []
    assert.deepEqual(
      beginnings.filter((text, i) => beginnings.indexOf(text) < i),
      [],
    )
  }
})

test('a new version is written to every place', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'wayleave-versions-'))
  t.after(() => rmSync(copy, { recursive: true }))
  for (const { file } of readVersions(root)) cpSync(join(root, file), join(copy, file))
  writeVersion(copy, '7.8.9')
  assert.equal(commonVersion(copy), '7.8.9')
  assert.equal(readVersions(copy).length, readVersions(root).length)
  assert.match(readFileSync(join(copy, 'SECURITY.md'), 'utf8'), /7\.8\.9\) \| yes/)
  assert.match(
    readFileSync(join(copy, 'ops/kubernetes/deployment.yaml'), 'utf8'),
    /image: wayleave:7\.8\.9$/m,
  )
  assert.throws(() => writeVersion(copy, 'next'), /not a version/)
})

test('a release needs a dated section of its version, and nothing that is unreleased', () => {
  const text = '# Changelog\n\nFor users.\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-31)\n\n- Old.\n'
  assert.throws(() => requireReleased(text, '0.2.0'), /no section for 0.2.0/)
  assert.throws(() => requireReleased(text, '0.1.0'), /unreleased changes/)
  const dated = dateChangelog(text, '0.2.0', '2026-02-28')
  requireReleased(dated, '0.2.0')
  assert.deepEqual(
    readChangelog(dated).map(({ version, date, body }) => [version, date, body]),
    [
      [null, null, ''],
      ['0.2.0', '2026-02-28', '- New.'],
      ['0.1.0', '2026-01-31', '- Old.'],
    ],
  )
  assert.throws(() => readChangelog('## Unreleased\n\n## 0.1\n'), /must be/)
  assert.throws(() => readChangelog('## 0.1.0 (2026-01-31)\n'), /begin with/)
})

test('the bill of materials lists every production package of the lock file, each with a license that we accept', {
  skip: lacks('processes'),
}, () => {
  const { bomFormat, metadata, components, dependencies } = billOfMaterials(root)
  assert.equal(bomFormat, 'CycloneDX')
  assert.equal(metadata.component.name, 'wayleave')
  const references = new Set(components.map((row) => row['bom-ref']))
  assert.equal(references.size, components.length, 'references are unique')
  for (const { ref, dependsOn } of dependencies)
    for (const other of dependsOn) assert.ok(references.has(other), `${ref} needs ${other}`)
  const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)))
  const locked = productionPackages(root)
  assert.ok(locked.length > 100)
  const own = [...listed].filter((purl) => /^pkg:npm\/(@wayleave\/|wayleave@)/.test(purl))
  assert.equal(
    listed.size - own.length,
    new Set(locked.map(({ name, version }) => `${name}@${version}`)).size,
  )
  for (const { name, version, license } of locked) {
    assert.ok(listed.has(`pkg:npm/${name}@${version}`), `${name} ${version}`)
    // The parts of a package for other platforms have the license of the package, which the lock file states.
    if (license === '' && PLATFORM.test(name)) continue
    // It has the text of the MIT license in a file, and does not name it.
    if (license === '' && name === 'png-js') continue
    // A typeface: it may be shipped with programs, and not sold by itself.
    if (license === 'OFL-1.1' && name.startsWith('@fontsource-variable/')) continue
    assert.match(license, isTool(name) ? /^MPL-2\.0$/ : ACCEPTED, `${name} has the license ${license}`)
  }
})

test('the licenses of all installed packages are in one text', () => {
  const text = thirdPartyLicenses(root)
  for (const { name, version } of installedPackages(root))
    assert.ok(text.includes(`\n${name} ${version} (`), name)
  assert.match(text, /fastify/i)
  assert.match(text, /Permission is hereby granted/)
})

test('the packages of both clients contain the license', { skip: lacks('processes') }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-clients-'))
  t.after(() => rmSync(folder, { recursive: true }))
  buildClients(root, join(folder, 'clients'))
  const version = commonVersion(root)
  const license = readFileSync(join(root, 'LICENSE'), 'utf8')
  const wheel = unzipSync(readFileSync(join(folder, 'clients', `wayleave-${version}-py3-none-any.whl`)))
  assert.equal(strFromU8(wheel[`wayleave-${version}.dist-info/licenses/LICENSE`]!), license)
  const archive = join(folder, 'clients', `wayleave-client-${version}.tgz`)
  const packed = spawnSync('tar', ['--extract', '--to-stdout', '--file', archive, 'package/LICENSE'])
  assert.equal(packed.stdout.toString(), license)
})

test('a provenance names the files, the commit and the lock file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-provenance-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.tgz'), 'bytes')
  const facts = { commit: 'c0ffee', version: '1.2.3', npmVersion: '11.0.0' }
  const { subject, predicate } = JSON.parse(provenance(root, [join(folder, 'package.tgz')], facts))
  assert.deepEqual(subject, [{ name: 'package.tgz', digest: { sha256: hash('sha256', 'bytes') } }])
  const [source, lock] = predicate.buildDefinition.resolvedDependencies
  assert.equal(source.digest.gitCommit, 'c0ffee')
  assert.equal(lock.digest.sha256, hash('sha256', readFileSync(join(root, 'package-lock.json'))))
})
