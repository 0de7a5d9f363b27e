import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checksum } from './checksum.ts'
import { readManifest } from './manifest.ts'

/** What is wrong with a snapshot's files, a sentence each; empty where all are as the manifest says. */
export async function verifySnapshot(folder: string): Promise<string[]> {
  const manifest = await readManifest(folder)
  const wrong: string[] = []
  for (const [name, expected] of Object.entries(manifest.files)) {
    const path = join(folder, name)
    const size = await stat(path).then(
      (found) => found.size,
      () => null,
    )
    if (size === null) wrong.push(`${name} is missing.`)
    else if (size !== expected.bytes) wrong.push(`${name} has ${size} bytes instead of ${expected.bytes}.`)
    else if ((await checksum(path)) !== expected.sha256) wrong.push(`${name} has another checksum.`)
  }
  return wrong
}
