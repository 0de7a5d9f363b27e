import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileSnapshot, inspectSource, planParts, stagePart } from '@wayleave/geodata/compile'
import { buildChanges, buildExport, buildVariant } from '@wayleave/geodata/exports'
import type { DataWork } from '../../base/data-work.ts'

/** Compiling a small file takes a fifth of the processor time that starting a child process for it takes. */
export const sameProcessWork: DataWork = {
  compile,
  inspect: inspectSource,
  planParts,
  stagePart,
  buildExport,
  buildVariant,
  buildChanges,
}

/** Larger files are seldom published by two tests. */
const MAX_KEPT_BYTES = 1 << 16

interface Kept {
  folder: string
  compiled: Awaited<ReturnType<typeof compileSnapshot>>
}

const kept = new Map<string, Kept>()
const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/**
 * Most tests publish the same few rows. Their snapshot is compiled once in a process and copied, which takes a tenth
 * of the time.
 */
async function compile(...args: Parameters<typeof compileSnapshot>): ReturnType<typeof compileSnapshot> {
  const [options, onProgress, , source] = args
  const key = source === undefined ? await keyOf(options) : null
  const earlier = key === null ? undefined : kept.get(key)
  if (earlier) {
    await cp(earlier.folder, options.folder, { recursive: true })
    onProgress?.({ phase: 'indexing', rows: earlier.compiled.manifest.rows, bytesRead: 0, totalBytes: null })
    return structuredClone(earlier.compiled)
  }
  const compiled = await compileSnapshot(...args)
  if (key !== null) {
    const folder = await mkdtemp(join(tmpdir(), 'wayleave-compiled-'))
    folders.push(folder)
    await cp(options.folder, folder, { recursive: true })
    kept.set(key, { folder, compiled: structuredClone(compiled) })
  }
  return compiled
}

/** Null for what is not kept: large files, and formats that read files beside theirs. */
async function keyOf({
  path,
  folder: _,
  resume: _resume,
  ...options
}: Parameters<typeof compileSnapshot>[0]) {
  if (!/\.(geojson|json|csv)$/.test(options.file ?? path)) return null
  const { size } = await stat(path)
  if (size > MAX_KEPT_BYTES) return null
  const hash = createHash('sha256').update(await readFile(path))
  return hash.update(JSON.stringify(options)).digest('hex')
}
