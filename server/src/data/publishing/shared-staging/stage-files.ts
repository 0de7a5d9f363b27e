import { chmod, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { checksum } from '@wayleave/geodata/snapshot'
import type { ObjectInfo } from '../../../base/storage/object-store.ts'
import type { PartStage } from '../../jobs/part-stage.ts'

/** Puts a file into a stage. */
export async function addFile(stage: PartStage, name: string, path: string): Promise<void> {
  const { size } = await stat(path)
  await stage.add(name, { path, bytes: size, sha256: await checksum(path) })
}

/** Fetches a file for the user of the sandbox, who would read a copy otherwise. The folder is only for the service. */
export async function fetchReadable(stage: PartStage, object: ObjectInfo, folder: string): Promise<string> {
  const path = await stage.fetch(object, folder)
  if (dirname(path) === folder) await chmod(path, 0o644)
  return path
}
