import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { PACK_FILE } from '../pack/pack.ts'
import { PackRange } from '../pack/pack-range.ts'
import { performRequests } from '../threads/perform-requests.ts'
import { createEncoder } from './create-encoder.ts'
import type { EncodeWork } from './encoding/encode-work.ts'
import type { EncodedFeatures, FeatureEncoder } from './encoding/feature-batch.ts'

/** Asks for the features that begin in a range of bytes of the pack. */
export interface RangeRequest {
  /** Null after the first request of a thread, which has one work. */
  work: EncodeWork | null
  start: number
  end: number
}

let opened: Promise<{ encoder: FeatureEncoder; range: PackRange }> | null = null

async function openWork(work: EncodeWork) {
  const file = await open(join(work.folder, PACK_FILE))
  return { encoder: await createEncoder(work), range: new PackRange(file) }
}

performRequests(
  async ({ work, start, end }: RangeRequest): Promise<EncodedFeatures> => {
    if (work) opened = openWork(work)
    const { encoder, range } = await opened!
    return encoder.encode(await range.read(start, end))
  },
  ({ bytes, lengths, boxes, ids }) => [bytes, lengths, boxes, ids].map(({ buffer }) => buffer as ArrayBuffer),
)
