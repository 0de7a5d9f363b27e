/** A published snapshot as files: its manifest, checksums and verification, and durable writing. It loads little, because the command line imports it. */
export { readFully } from '../bytes/read-fully.ts'
export {
  BlockCheck,
  type BlockChecksums,
  BlockHasher,
  CHECKED_BLOCK_BYTES,
  checksumBlocks,
  parseBlocks,
  printBlocks,
  readBlockChecksums,
} from '../snapshot/block-checksums.ts'
export { checksum } from '../snapshot/checksum.ts'
export { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
export { exportColumns, idColumn, idQueryable, queryColumn, queryColumns } from '../snapshot/feature-ids.ts'
export { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
export { readManifest } from '../snapshot/read-manifest.ts'
export {
  type ByteSpan,
  folderFiles,
  type ReadableFile,
  type SnapshotFiles,
} from '../snapshot/snapshot-files.ts'
export { checkSizes, verifyFilesFast, verifySnapshot } from '../snapshot/verify.ts'
export { verifyInThread } from '../snapshot/verify-in-thread.ts'
export { makeFolderDurably, renameDurably, syncFolder, writeDurably } from '../write-durably.ts'
