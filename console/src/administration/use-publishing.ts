import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useJob } from '../api/queries.ts'
import { upload } from './upload.ts'

type Sending =
  | { kind: 'idle' }
  | { kind: 'sending'; sent: number; size: number }
  | { kind: 'failed'; error: unknown }

export type Publishing = ReturnType<typeof usePublishing>

/** Sends a file, and follows the job that publishes it. */
export function usePublishing() {
  const queries = useQueryClient()
  const [sending, setSending] = useState<Sending>({ kind: 'idle' })
  const stopping = useRef<AbortController>(null)
  const [jobId, setJobId] = useState<string | null>(null)
  const job = useJob(jobId)
  const state = job.data?.state
  useEffect(() => {
    if (state === 'done') queries.invalidateQueries({ queryKey: ['datasets'] })
  }, [state, queries])

  const reset = () => {
    setJobId(null)
    setSending({ kind: 'idle' })
  }
  const start = async (table: string, file: File, options: Record<string, string>) => {
    const { size } = file
    setJobId(null)
    setSending({ kind: 'sending', sent: 0, size })
    stopping.current = new AbortController()
    const { signal } = stopping.current
    try {
      const onProgress = (sent: number) => setSending({ kind: 'sending', sent, size })
      const started = await upload(table, file, options, onProgress, signal)
      setJobId(started.id)
      setSending({ kind: 'idle' })
    } catch (error) {
      setSending(signal.aborted ? { kind: 'idle' } : { kind: 'failed', error })
    }
  }
  const stop = () => stopping.current?.abort()
  const isBusy = sending.kind === 'sending' || state === 'waiting' || state === 'running'
  return { sending, job, hasJob: jobId !== null, isBusy, reset, start, stop }
}
