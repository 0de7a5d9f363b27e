import { DamagedSnapshotError } from '@wayleave/geodata/snapshot'

/** A file of a snapshot is damaged or missing in the object store itself, not only in this node's cache of it. */
export class DamagedObjectError extends DamagedSnapshotError {
  override name = 'DamagedObjectError'
}
