import type { Progress } from '@wayleave/client'
import { collectionUrl, fetchOgc, nameList } from '../../api/ogc.ts'
import { type DownloadState, startDownload, stopDownload, useStoredDownload } from './download-store.ts'

export const EXTRACT_FORMATS = {
  csv: { name: 'CSV', extension: 'csv' },
  geojson: { name: 'GeoJSON', extension: 'geojson' },
  parquet: { name: 'GeoParquet', extension: 'parquet' },
} as const

/**
 * Downloads the rows that match a filter as one file. The filter may change while a download is under way: it
 * is still shown, so that it can be stopped.
 */
export function useExtract(
  table: string,
  format: keyof typeof EXTRACT_FORMATS,
  filter: string,
  sort: string,
) {
  const key = `${table}/extract/${format}`
  const url = collectionUrl(table, '/extract', {
    f: format,
    filter,
    sortby: nameList(sort === '' ? [] : [sort]),
  })
  const download = useStoredDownload(key)
  const isOfThisFilter = download.query === url
  const state: DownloadState =
    isOfThisFilter || download.state.kind === 'running' ? download.state : { kind: 'idle' }
  const start = (maxCredits?: number) =>
    startDownload(key, {
      fileName: `${table}-filtered.${EXTRACT_FORMATS[format].extension}`,
      query: url,
      fetchFile: async (signal, onProgress) =>
        readBlob(await fetchOgc(url, signal, 'GET', maxCredits), onProgress),
    })
  return { state, url, isOfThisFilter, start, stop: () => stopDownload(key) }
}

async function readBlob(response: Response, onProgress: (progress: Progress) => void): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let received = 0
  for (const reader = response.body!.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    received += value.length
    onProgress({ received, total: undefined })
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' })
}
