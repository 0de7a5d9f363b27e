import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  completeLock,
  type LockedPackages,
  missingPlatforms,
  packagesWithEngines,
  packagesWithoutHash,
} from './lock-platforms.ts'

const root = join(import.meta.dirname, '..')
const thisFile = 'scripts/repository.test.ts'
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0')
const texts = tracked
  .filter((file) => file !== '' && existsSync(join(root, file)))
  .map((file) => ({ file, bytes: readFileSync(join(root, file)) }))
  .filter(({ bytes }) => !bytes.subarray(0, 8000).includes(0))
  .map(({ file, bytes }) => ({ file, text: bytes.toString() }))

const lockedPackages = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
const isTest = (file: string) =>
  /\.test(-kit)?\.ts$|(^|\/)test_[^/]*\.py$|(^|\/)(tests|test-data)\/|(^|\/)test-[^/]*$/.test(file)
const isSource = (file: string) => /\.(ts|tsx|js|mjs|py|css|sh)$/.test(file) && !file.includes('test-data/')

/** The matches of a pattern in the lines of these files, as `file:line: text`. */
function placesOf(pattern: RegExp, files: { file: string; text: string }[]): string[] {
  return files
    .filter(({ file }) => file !== thisFile)
    .flatMap(({ file, text }) =>
      text.split('\n').flatMap((line, i) => {
        const found = pattern.exec(line)
        return found ? [`${file}:${i + 1}: ${found[0].trim()}`] : []
      }),
    )
}

test('no file names the host of a package registry', () => {
  const hosts =
    /\bregistry\.[\w-]+\.(?:com|dev|io|net|org)\b|\bnpmjs\.\w+|\bpypi\.\w+|pythonhosted\.\w+|\bdeb\.debian\.\w+/i
  assert.deepEqual(placesOf(hosts, texts), [])
})

test('the lock file has no addresses of downloads, so that any registry serves it', () => {
  const addresses = Object.entries<{ resolved?: string; link?: boolean }>(lockedPackages)
    .filter(([, { resolved, link }]) => resolved !== undefined && !link)
    .map(([path]) => path)
  assert.deepEqual(addresses, [])
})

test('the lock file has a row for every platform, else npm ci refuses it: npm run lock adds them', () => {
  assert.deepEqual(
    missingPlatforms(lockedPackages).map(({ name }) => name),
    [],
  )
})

test('npm ci on an older Node warns of no package, since all run on the Node that it installs', () => {
  assert.deepEqual(packagesWithEngines(lockedPackages), [], 'npm run lock removes them')
})

test('the lock file has a hash of every package, except for those that the registry lacks', () => {
  const withoutHash = packagesWithoutHash(lockedPackages)
  // All packages of these platforms are known, also those for musl.
  const common = /linux-(x64|arm64)|linux-.*x64/
  const exceptions = ['@duckdb/node-bindings-linux-arm64', '@duckdb/node-bindings-linux-arm64-musl']
  assert.deepEqual(
    withoutHash.filter((path) => common.test(path) && !exceptions.some((name) => path.endsWith(name))),
    [],
    'npm run lock adds them',
  )
  // Whatever is the same on all platforms has a hash.
  for (const path of withoutHash) assert.ok(lockedPackages[path].cpu, path)
})

test('a row that is added to the lock file is of one platform alone', () => {
  const packages: LockedPackages = {
    'node_modules/tool': {
      dev: true,
      optionalDependencies: {
        'tool-linux-x64-musl': '1.0.0',
        'tool-win32-arm64-msvc': '1.0.0',
        fast: '^2.0.0',
      },
    },
    'node_modules/tool-linux-x64-musl': { version: '1.0.0' },
  }
  assert.deepEqual(completeLock(packages), ['tool-win32-arm64-msvc'])
  const added = { version: '1.0.0', cpu: ['arm64'], dev: true, optional: true, os: ['win32'] }
  assert.deepEqual(packages['node_modules/tool-win32-arm64-msvc'], added)
  assert.deepEqual(completeLock(packages), [])
})

test('no file outside the tests names a path of one machine', () => {
  const paths = /(?<![\w.*\]/:$}-])\/(?:root|home|work|tmp|Users)(?=\/|['"`\s]|$)[^\s'"`]*/
  assert.deepEqual(
    placesOf(
      paths,
      // Containers have paths of their own.
      texts.filter(({ file }) => !isTest(file) && !/^(ops|scripts)\/(container|kubernetes)\//.test(file)),
    ),
    [],
  )
})

test('only config.ts reads the environment; a program may do so before it runs', () => {
  // Two files pass a few variables on to the programs that they start, and two have examples for readers.
  const readers = [
    'server/src/base/settings/config.ts',
    'server/bin/wayleave.js',
    'geodata/src/formats/gdal/run-ogr2ogr.ts',
    'geodata/src/sandbox/minimal-environment.ts',
    'server/src/site/reference/example-code.ts',
    'console/src/webhooks/receiver-examples.ts',
  ]
  const isProduction = (file: string) =>
    /^(geodata|query|server|client-js|console|demo)\/(src|bin)\//.test(file) && !/\/testing\//.test(file)
  const files = texts.filter(({ file }) => isProduction(file) && !isTest(file) && !readers.includes(file))
  assert.deepEqual(placesOf(/^(?!\s*(?:\/\/|\/?\*)).*\bprocess\.env\b/, files), [])
})

test('no file or folder has a name that says nothing', () => {
  const isEmpty = (file: string) =>
    file.split(/[/.-]/).some((word) => /^(utils?|helpers?|common|misc|managers?|services?)$/.test(word))
  const files = tracked.filter((file) => /\.(ts|tsx|js|mjs)$/.test(file))
  assert.deepEqual(files.filter(isEmpty), [])
  const bad = [
    'server/src/accounts/keys/utils.ts',
    'server/src/services/keys.ts',
    'geodata/src/string-helper.ts',
  ]
  assert.deepEqual(bad.filter(isEmpty), bad)
})

test('the files speak of the project, not of how or with what they were written', () => {
  const words =
    /\b(chat ?gpt|claude|copilot|anthropic|openai|llm|ai[- ](?:generated|agent|assistant)|language model)\b/i
  assert.deepEqual(placesOf(words, texts), [])
})

test('no source file is longer than 600 lines, and past 400 it is named', (t) => {
  const lines = texts
    .filter(({ file }) => isSource(file))
    .map(({ file, text }) => ({ file, count: text.trimEnd().split('\n').length }))
  for (const { file, count } of lines) {
    if (count > 400) t.diagnostic(`${file} has ${count} lines and wants to be two files`)
  }
  const tooLong = lines.filter(({ count }) => count > 600)
  assert.deepEqual(tooLong, [])
})
