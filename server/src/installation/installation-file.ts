import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably, writeDurably } from '@wayleave/geodata/snapshot'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

const content = Type.Object({
  installationId: Type.String({ pattern: '^inst_[0-9A-Za-z]{20}$' }),
  /** Snapshots that the operator declared lost; the folder need not contain them. */
  lostSnapshots: Type.Optional(Type.Array(Type.String())),
})
export type InstallationFile = Static<typeof content>

/** The file in a data folder that identifies the installation to which the folder belongs. */
export function installationPath(dataDir: string): string {
  return join(dataDir, 'installation.json')
}

/** Null if the file is missing. A file that cannot be parsed counts as missing: it proves nothing. */
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

/** Written atomically, and synced to disk when this returns. */
export async function writeInstallationFile(dataDir: string, file: InstallationFile): Promise<void> {
  await makeFolderDurably(dataDir, 0o700)
  const content = `${JSON.stringify(file, null, 2)}\n`
  await writeDurably(installationPath(dataDir), content, { mode: 0o600 })
}
