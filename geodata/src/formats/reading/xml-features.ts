import type { Feature, FeatureStream, UnreadableRow } from '../../feature.ts'
import type { ByteSource } from './byte-source.ts'
import { peek } from './byte-source.ts'
import { XmlText } from './text/xml-text.ts'

/** Enough to find the XML declaration, which names the encoding. */
const HEAD_BYTES = 1024

/** Turns the text of an XML document into features, piece by piece. */
export interface XmlFeatureReader {
  write(text: string): void
  /** Returns the features that are complete, and forgets them. */
  take(): (Feature | UnreadableRow)[]
  /** Called at the end of the document; throws if it is incomplete or has no features. */
  close(): void
}

/** The features of an XML format whose coordinates are longitude and latitude (KML, GPX). */
export async function openXmlFeatures(
  source: ByteSource,
  encoding: string | undefined,
  /** Both may grow while the document is read. */
  { columns, notes }: Pick<FeatureStream, 'columns' | 'notes'>,
  createReader: () => XmlFeatureReader,
): Promise<FeatureStream> {
  const [head, whole] = await peek(source, HEAD_BYTES)
  const text = new XmlText(head, source.file, encoding)
  let bytesRead = 0
  return {
    columns,
    notes,
    crs: 'OGC:CRS84',
    spatial: true,
    totalBytes: source.totalBytes,
    get bytesRead() {
      return bytesRead
    },
    async *batches() {
      const reader = createReader()
      for await (const piece of whole.bytes) {
        bytesRead += piece.length
        reader.write(text.decode(piece))
        const rows = reader.take()
        if (rows.length > 0) yield rows
      }
      reader.write(text.decode(null))
      reader.close()
      const rows = reader.take()
      if (rows.length > 0) yield rows
    },
  }
}
