import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../export-error.ts'
import { roundOutward } from '../geometry/bbox.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { ByteSink } from './byte-sink.ts'
import type { ExportOptions } from './export-options.ts'

export interface GeojsonParts {
  head: Buffer
  tail: Buffer
}

/**
 * The GeoJSON export is head + features.pack + tail, byte for byte, so a server can send ranges of it without
 * building the file.
 */
export function geojsonParts(manifest: Pick<Manifest, 'bbox'>): GeojsonParts {
  const bbox = manifest.bbox ? `"bbox":${JSON.stringify(roundOutward(manifest.bbox))},\n` : ''
  return {
    head: Buffer.from(`{"type":"FeatureCollection",\n${bbox}"features":[\n`),
    tail: Buffer.from('\n]}\n'),
  }
}

export async function writeGeojson(
  folder: string,
  manifest: Manifest,
  partial: string,
  { signal }: ExportOptions,
): Promise<string | undefined> {
  const { head, tail } = geojsonParts(manifest)
  const sink = new ByteSink(partial)
  const pack = await open(join(folder, SNAPSHOT_FILES.pack), 'r')
  try {
    sink.write(head)
    for (;;) {
      signal?.throwIfAborted()
      sink.flush()
      const { bytesRead } = await pack.read(sink.buffer, 0, sink.buffer.length)
      if (bytesRead === 0) break
      sink.at = bytesRead
    }
    const { bytes } = manifest.files[SNAPSHOT_FILES.pack]!
    if (sink.length !== head.length + bytes) {
      throw new ExportError('snapshot-damaged', 'features.pack has another length than manifest.json says.')
    }
    sink.write(tail)
    return sink.close()
  } finally {
    sink.abandon()
    await pack.close()
  }
}
