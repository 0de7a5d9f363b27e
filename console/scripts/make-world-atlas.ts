/**
 * Writes console/data/*-50m.json.br and *-110m.json.br: `node console/scripts/make-world-atlas.ts`. The source is an npm
 * package of 8 MB, of which maps need a fifth, so it is fetched into a temporary folder here and the result is kept in
 * the repository, compressed. See console/data/README.md for origin and licence.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

const SOURCE = 'world-atlas@2.0.2'
const FILES = ['land-50m.json', 'land-110m.json', 'countries-50m.json', 'countries-110m.json']

const folder = mkdtempSync(join(tmpdir(), 'wayleave-world-atlas-'))
try {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, SOURCE], { cwd: folder })
  execFileSync('sh', ['-c', 'tar --extract --gzip --file *.tgz'], { cwd: folder })
  for (const file of FILES) {
    const content = readFileSync(join(folder, 'package', file))
    const packed = brotliCompressSync(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
    })
    writeFileSync(join(import.meta.dirname, '..', 'data', `${file}.br`), packed)
    console.log(`${file}: ${packed.length} bytes, of ${content.length}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
