import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useJob } from '../api/queries.ts'
import { type Uploaded, type UploadTarget, upload } from './upload.ts'

type Sending =
  | { kind: 'idle' }
  | { kind: 'sending'; sent: number; size: number }
  | { kind: 'failed'; error: unknown }

export type Publishing = ReturnType<typeof usePublishing>

/** Sends a file, and follows the job that publishes or inspects it. */
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
    stopping.current?.abort()
    stopping.current = null
    setJobId(null)
    setSending({ kind: 'idle' })
  }
  const start = async (target: UploadTarget, uploaded: Uploaded, options: Record<string, string>) => {
    const { size } = uploaded.file
    stopping.current?.abort()
    setJobId(null)
    setSending({ kind: 'sending', sent: 0, size })
    const own = new AbortController()
    stopping.current = own
    const { signal } = own
    try {
      // The form around the file is sent too.
      const onProgress = (sent: number) => setSending({ kind: 'sending', sent: Math.min(sent, size), size })
      const started = await upload(target, uploaded, options, onProgress, signal)
      // Another file, or another try, has taken its place.
      if (stopping.current !== own) return
      setJobId(started.id)
      setSending({ kind: 'idle' })
    } catch (error) {
      if (stopping.current !== own) return
      setSending(signal.aborted ? { kind: 'idle' } : { kind: 'failed', error })
    }
  }
  const stop = () => stopping.current?.abort()
  const isUnknown = jobId !== null && job.isPending
  const isBusy = sending.kind === 'sending' || isUnknown || state === 'waiting' || state === 'running'
  return { sending, job, hasJob: jobId !== null, isBusy, reset, start, stop }
}
