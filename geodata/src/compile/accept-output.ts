import { chown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { checkManifest } from '../snapshot/parse-manifest.ts'
import { PART_FILE, type PlannedParts } from './stage/stage-plan.ts'

const NAMES = new Set<string>(Object.values(SNAPSHOT_FILES))

/**
 * Checks what a compiling process left, before the service opens any of it. A file that took the process over could
 * leave symbolic links to other files of the machine, or a manifest that names files outside of the folder, or is none.
 * The files become those of the service, if the process was another user. See docs/decisions/sandbox.md.
 */
export async function acceptOutput(folder: string, manifest: Manifest): Promise<void> {
  const refuse = (name: string) => {
    throw new Error(`compiling left ${JSON.stringify(name.slice(0, 100))}, which is not part of a snapshot`)
  }
  for (const name of Object.keys(checkManifest(manifest).files)) if (!NAMES.has(name)) refuse(name)
  const names = await readdir(folder)
  for (const name of names) {
    const stats = await lstat(join(folder, name))
    if (!NAMES.has(name) || !stats.isFile() || stats.nlink !== 1) refuse(name)
    const expected = manifest.files[name]
    if (expected && stats.size !== expected.bytes) refuse(name)
  }
  await own([...names.map((name) => join(folder, name)), folder])
}

/** The same for a process that staged a part of a source. Returns the path of its file. */
export async function acceptPart(folder: string): Promise<string> {
  const path = join(folder, PART_FILE)
  const names = await readdir(folder)
  const stats = await lstat(path).catch(() => null)
  if (names.length !== 1 || !stats?.isFile() || stats.nlink !== 1)
    throw new Error(`staging a part left ${JSON.stringify(names.slice(0, 3))} instead of one file`)
  await own([path, folder])
  return path
}

/** The same for a process that divided a source: names of files that lead out of its folder would be fetched. */
export function acceptPlan(planned: PlannedParts): PlannedParts {
  const { parts, plan } = planned
  const areParts = Array.isArray(parts) && parts.every(({ names, rows }) => areNames(names) && rows > 0)
  if (!areParts || typeof plan !== 'string') throw new Error('the process that planned sent no plan')
  return { parts, plan }
}

function areNames(names: unknown): boolean {
  return (
    Array.isArray(names) &&
    names.every(
      (name) => typeof name === 'string' && !name.startsWith('/') && !name.split('/').includes('..'),
    )
  )
}

async function own(paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const path of paths) await chown(path, 0, process.getgid!())
}
