import { useQueryClient } from '@tanstack/react-query'
import type { Progress } from '@wayleave/client'
import { useRef, useState } from 'react'
import { data } from '../api/data.ts'
import { fileName } from '../words.ts'
import { saveFile } from './save-file.ts'

export type DownloadState =
  | { kind: 'idle' }
  | { kind: 'running'; progress: Progress | null }
  | { kind: 'done'; bytes: number }
  | { kind: 'failed'; error: unknown }

/** Throttles progress updates: a fast download has thousands of chunks a second. */
const PROGRESS_MS = 100

/** Downloads a whole file with the session's key, reports progress, and passes the file to the browser. */
export function useDownload(table: string, format: string, version?: number) {
  const [state, setState] = useState<DownloadState>({ kind: 'idle' })
  const stopping = useRef<AbortController>(null)
  const queries = useQueryClient()
  const start = async () => {
    stopping.current = new AbortController()
    const { signal } = stopping.current
    setState({ kind: 'running', progress: null })
    try {
      let lastReportAt = 0
      const onProgress = (progress: Progress) => {
        if (performance.now() - lastReportAt < PROGRESS_MS) return
        lastReportAt = performance.now()
        setState({ kind: 'running', progress })
      }
      const file = await data.download(table, format, { as: 'blob', version, signal, onProgress })
      saveFile(file, fileName(table, format))
      setState({ kind: 'done', bytes: file.size })
    } catch (error) {
      setState(signal.aborted ? { kind: 'idle' } : { kind: 'failed', error })
    }
    // The balance, the ledger, the purchases and the sizes of files have changed.
    for (const name of ['me', 'rows', 'purchases', 'datasets'])
      queries.invalidateQueries({ queryKey: [name] })
  }
  return { state, start, stop: () => stopping.current?.abort() }
}
