/** Compares two snapshots in a separate process, so that its memory and time can be measured. */
import { buildChanges, type ChangesFormat } from '@wayleave/geodata/exports'
import { readManifest } from '@wayleave/geodata/snapshot'

const [before, after, format, path] = process.argv.slice(2) as [string, string, ChangesFormat, string]
const snapshot = async (folder: string) => ({ folder, manifest: await readManifest(folder) })
await buildChanges({ before: await snapshot(before), after: await snapshot(after), format }, path)
