import { idEnd } from '../../pack/pack.ts'
import { ByteSink } from '../byte-sink.ts'
import {
  type ChangeCounts,
  type ComparedSnapshot,
  compareSnapshots,
  type FeatureBytes,
} from './compare-snapshots.ts'

const ADDED = Buffer.from('{"change":"added","id":')
const CHANGED = Buffer.from('{"change":"changed","id":')
const REMOVED = Buffer.from('{"change":"removed","id":')
const FEATURE = Buffer.from(',"feature":')
const BEFORE = Buffer.from(',"before":')
const END = Buffer.from('}\n')
/** The length of `{"type":"Feature","id":`. */
const ID_AT = 23

/** One line of JSON for each change; the features are copied from the packs. */
export async function writeChangesNdjson(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  partial: string,
  signal?: AbortSignal,
): Promise<{ counts: ChangeCounts; sha256: string | undefined }> {
  const sink = new ByteSink(partial)
  const line = (head: Buffer, feature: FeatureBytes, old?: FeatureBytes) => {
    const idFrom = feature.start + ID_AT
    sink.write(head)
    sink.write(feature.bytes.subarray(idFrom, idEnd(feature.bytes, idFrom)))
    sink.write(FEATURE)
    sink.write(feature.bytes.subarray(feature.start, feature.end))
    if (old) {
      sink.write(BEFORE)
      sink.write(old.bytes.subarray(old.start, old.end))
    }
    sink.write(END)
  }
  try {
    const counts = await compareSnapshots(
      before,
      after,
      {
        added: (feature) => line(ADDED, feature),
        changed: (feature, _position, old) => line(CHANGED, feature, old),
        removed: (old) => line(REMOVED, old),
      },
      signal,
    )
    return { counts, sha256: sink.close() }
  } finally {
    sink.abandon()
  }
}
