import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '@wayleave/geodata/exports/write-atomically.ts'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

const content = Type.Object({
  installationId: Type.String({ pattern: '^inst_[0-9A-Za-z]{20}$' }),
  /** Snapshots that the operator declared lost; the folder need not hold them. */
  lostSnapshots: Type.Optional(Type.Array(Type.String())),
})
export type InstallationFile = Static<typeof content>

/** The file in a data folder that says to which installation the folder belongs. */
export function installationPath(dataDir: string): string {
  return join(dataDir, 'installation.json')
}

/** Null if there is none. A file that cannot be understood counts as none: it proves nothing. */
export async function readInstallationFile(dataDir: string): Promise<InstallationFile | null> {
  const text = await readFile(installationPath(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  try {
    const parsed: unknown = JSON.parse(text)
    return Value.Check(content, parsed) ? parsed : null
  } catch {
    return null
  }
}

/** Whole and on the disk when it returns. */
export async function writeInstallationFile(dataDir: string, file: InstallationFile): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = installationPath(dataDir)
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.part`
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, path)
  await syncFolder(dataDir)
}
