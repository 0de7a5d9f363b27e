import { hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { geojsonParts } from '@wayleave/geodata/exports'
import { readBlockChecksums, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Blobs } from '../../blobs/blobs.ts'
import type { Verification } from '../../catalog/background-verification.ts'
import type { Version } from '../../catalog/dataset.ts'
import { stampOf } from '../../catalog/file-stamp.ts'
import { localFile, withFirstByte } from './built-file.ts'
import { type ExportFile, type ExportRequest, type StoredFile, toExportFile } from './export-file.ts'

/**
 * Up to this size, in bytes, the snapshot's own files are verified completely before the first response, which takes
 * a fraction of a second, so that damage results in a 503 instead of a truncated download. Larger ones are verified
 * block by block while they are sent, until the verification in the background has read them.
 */
const CHECKED_FIRST_BYTES = 64 << 20
const NO_PARTS = { head: Buffer.alloc(0), tail: Buffer.alloc(0) }

interface SnapshotExportDeps {
  blobs: Blobs
  verification: Verification
}

/** GeoParquet is the snapshot's own file; GeoJSON is its pack between a head and a tail. */
export async function openSnapshotExport(
  request: ExportRequest,
  folder: string,
  { blobs, verification }: SnapshotExportDeps,
): Promise<ExportFile> {
  const { version } = request
  const { manifest } = version
  const isGeojson = request.format.format === 'geojson'
  const name = isGeojson ? SNAPSHOT_FILES.pack : SNAPSHOT_FILES.rows
  const path = join(folder, name)
  const { bytes, sha256 } = manifest.files[name]!
  const { head, tail } = isGeojson ? geojsonParts(manifest) : NO_PARTS
  // The tag of a GeoJSON file covers what is around the pack.
  const tag = isGeojson ? hash('sha256', sha256 + head + tail) : sha256
  if (!blobs.isLocal) {
    const file = toExportFile(request, { ...objectOf(blobs, version, name), bytes, sha256: tag, head, tail })
    return isGeojson ? { ...file, digest: null, signedAddress: async () => null } : file
  }
  const blocks = (await readBlockChecksums(folder, manifest))?.get(name)
  const isSentChecked = blocks !== undefined && bytes > CHECKED_FIRST_BYTES
  const stamp = isSentChecked
    ? stampOf(await stat(path))
    : await verification.requireFile(folder, manifest, name)
  const checked = blocks
    ? { name, blocks, isVerified: () => verification.isVerified(path, stamp, version) }
    : null
  const verified = verification.verify(version)
  const file = toExportFile(request, {
    ...localFile(path, { bytes, sha256: tag, stamp }),
    head,
    tail,
    checked,
  })
  if (!isGeojson) return file
  // The checksum of head, file and tail together comes from the background verification, which no request
  // waits for.
  file.digest = null
  verified.then((result) => {
    file.digest = result?.geojsonDigest ?? null
  })
  return file
}

/** A file of a snapshot in a bucket. */
function objectOf(
  blobs: Blobs,
  { snapshot, manifest }: Version,
  name: string,
): Pick<StoredFile, 'open' | 'localPath' | 'signedAddress'> {
  return {
    localPath: null,
    open: async () => withFirstByte(await blobs.files(snapshot, manifest).open(name, { isSequential: true })),
    signedAddress: (address) => blobs.signedAddress(snapshot, name, address),
  }
}
