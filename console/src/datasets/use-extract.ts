import { useRef, useState } from 'react'
import { collectionUrl, fetchOgc, nameList } from '../api/ogc.ts'
import { saveFile } from './save-file.ts'
import type { DownloadState } from './use-download.ts'

export const EXTRACT_FORMATS = {
  csv: { name: 'CSV', extension: 'csv' },
  geojson: { name: 'GeoJSON', extension: 'geojson' },
  parquet: { name: 'GeoParquet', extension: 'parquet' },
} as const

const PROGRESS_MS = 100

/** Downloads the rows that match a filter as one file, and passes it to the browser. */
export function useExtract(
  table: string,
  format: keyof typeof EXTRACT_FORMATS,
  filter: string,
  sort: string,
) {
  const [state, setState] = useState<DownloadState>({ kind: 'idle' })
  const stopping = useRef<AbortController>(null)
  const start = async () => {
    stopping.current = new AbortController()
    const { signal } = stopping.current
    setState({ kind: 'running', progress: null })
    try {
      const url = collectionUrl(table, '/extract', {
        f: format,
        filter,
        sortby: nameList(sort === '' ? [] : [sort]),
      })
      const response = await fetchOgc(url, signal)
      const file = await readBlob(response, (received) =>
        setState({ kind: 'running', progress: { received, total: undefined } }),
      )
      saveFile(file, `${table}-filtered.${EXTRACT_FORMATS[format].extension}`)
      setState({ kind: 'done', bytes: file.size })
    } catch (error) {
      setState(signal.aborted ? { kind: 'idle' } : { kind: 'failed', error })
    }
  }
  return { state, start, stop: () => stopping.current?.abort() }
}

async function readBlob(response: Response, onProgress: (received: number) => void): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let received = 0
  let lastReportAt = performance.now()
  for (const reader = response.body!.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    received += value.length
    if (performance.now() - lastReportAt < PROGRESS_MS) continue
    lastReportAt = performance.now()
    onProgress(received)
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? '' })
}
