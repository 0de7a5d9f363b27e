import { chown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { checkManifest } from '../snapshot/parse-manifest.ts'

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
  if (process.getuid?.() !== 0) return
  for (const path of [...names.map((name) => join(folder, name)), folder])
    await chown(path, 0, process.getgid!())
}
