import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably, writeDurably } from '@wayleave/geodata/snapshot'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { ObjectMissingError, type ObjectStore } from '../../base/storage/object-store.ts'

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

/** The key of the same file in a bucket, which then identifies the installation instead of the data folder. */
const KEY = 'installation.json'

/** Where the file is: in the data folder, or in the bucket if snapshots are stored there. */
export interface InstallationPlace {
  dataDir: string
  bucket?: ObjectStore | null
}

/** Null if the file is missing. A file that cannot be parsed counts as missing: it proves nothing. */
export async function readInstallationFile(place: InstallationPlace): Promise<InstallationFile | null> {
  const text = await readText(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error instanceof ObjectMissingError) return ''
    throw error
  })
  try {
    const parsed: unknown = JSON.parse(text)
    return Value.Check(content, parsed) ? parsed : null
  } catch {
    return null
  }
}

async function readText({ dataDir, bucket }: InstallationPlace): Promise<string> {
  if (bucket) return (await bucket.read(KEY)).toString('utf8')
  return readFile(installationPath(dataDir), 'utf8')
}

const knownBucket = Type.Object({ location: Type.String(), installationId: Type.String() })

/** Which installation the bucket belonged to when this node last saw it. */
function knownBucketPath(dataDir: string): string {
  return join(dataDir, 'cache', 'bucket.json')
}

/** The id of the bucket's installation as this node remembers it; null if it has not used this bucket. */
export async function rememberedInstallationId({
  dataDir,
  bucket,
}: InstallationPlace): Promise<string | null> {
  try {
    const parsed: unknown = JSON.parse(await readFile(knownBucketPath(dataDir), 'utf8'))
    return Value.Check(knownBucket, parsed) && parsed.location === bucket?.location
      ? parsed.installationId
      : null
  } catch {
    return null
  }
}

export async function rememberBucket(
  { dataDir, bucket }: InstallationPlace,
  installationId: string,
): Promise<void> {
  if (!bucket || (await rememberedInstallationId({ dataDir, bucket })) === installationId) return
  const content = JSON.stringify({ location: bucket.location, installationId })
  await writeDurably(knownBucketPath(dataDir), content, { mode: 0o600 })
}

/** Written atomically, and durable when this returns. */
export async function writeInstallationFile(
  { dataDir, bucket }: InstallationPlace,
  file: InstallationFile,
): Promise<void> {
  const content = `${JSON.stringify(file, null, 2)}\n`
  if (bucket) return bucket.write(KEY, Buffer.from(content))
  await makeFolderDurably(dataDir, 0o700)
  await writeDurably(installationPath(dataDir), content, { mode: 0o600 })
}
