import type { Progress } from '@wayleave/client'
import { useEffect, useSyncExternalStore } from 'react'
import { session } from '../../api/session.ts'
import { saveFile } from './save-file.ts'

export type DownloadState =
  | { kind: 'idle' }
  | { kind: 'running'; progress: Progress | null }
  | { kind: 'done'; bytes: number }
  | { kind: 'failed'; error: unknown }

interface Download {
  state: DownloadState
  /** What tells apart the files that share a row: a filter, or a version. */
  query: string
  stopping: AbortController
}

interface DownloadRequest {
  fileName: string
  query?: string
  fetchFile: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<Blob>
}

const IDLE: DownloadState = { kind: 'idle' }

/** Throttles progress updates: a fast download has thousands of chunks a second. */
const PROGRESS_MS = 100

/** Downloads by key, outside of the components: they go on while other tabs and pages are shown. */
const downloads = new Map<string, Download>()
const listeners = new Set<() => void>()

session.subscribe(() => {
  if (session.state !== 'signed-out') return
  for (const { stopping } of downloads.values()) stopping.abort()
  downloads.clear()
  notify()
})

/** Fetches a file, reports progress, and passes the file to the browser. Resolves when it has ended. */
export async function startDownload(
  key: string,
  { fileName, query = '', fetchFile }: DownloadRequest,
): Promise<void> {
  if (downloads.get(key)?.state.kind === 'running') return
  const stopping = new AbortController()
  const { signal } = stopping
  const become = (state: DownloadState) => {
    downloads.set(key, { state, query, stopping })
    notify()
  }
  become({ kind: 'running', progress: null })
  let lastReportAt = 0
  const onProgress = (progress: Progress) => {
    if (signal.aborted || performance.now() - lastReportAt < PROGRESS_MS) return
    lastReportAt = performance.now()
    become({ kind: 'running', progress })
  }
  try {
    const file = await fetchFile(signal, onProgress)
    if (signal.aborted) return
    saveFile(file, fileName)
    become({ kind: 'done', bytes: file.size })
  } catch (error) {
    if (!signal.aborted) become({ kind: 'failed', error })
  }
}

export function stopDownload(key: string): void {
  downloads.get(key)?.stopping.abort()
  forgetDownload(key)
}

/** Whether a download whose key has this prefix is under way or has ended. */
export function hasDownloads(prefix: string): boolean {
  return [...downloads.keys()].some((key) => key.startsWith(prefix))
}

/** The download of a key. One that failed is forgotten once its row has shown it and is gone. */
export function useStoredDownload(key: string): { state: DownloadState; query: string } {
  const download = useSyncExternalStore(subscribe, () => downloads.get(key))
  useEffect(
    () => () => {
      if (downloads.get(key)?.state.kind === 'failed') forgetDownload(key)
    },
    [key],
  )
  return download ?? { state: IDLE, query: '' }
}

function forgetDownload(key: string): void {
  downloads.delete(key)
  notify()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function notify(): void {
  for (const listener of listeners) listener()
}
