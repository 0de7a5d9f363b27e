import type { JobRecord } from '@wayleave/contract/records'
import { ProblemError, problemFrom, unreachable } from '../api/problem.ts'
import { session } from '../api/session.ts'

/** What is sent: a file, unless the server still has it from an inspection. */
export interface Uploaded {
  file: File
  /** The job of the inspection. */
  inspection: string | null
}

/** Where it is sent: to be published, or to be inspected. */
export interface UploadTarget {
  method: 'PUT' | 'POST'
  path: string
}

/** Sends a file with its options. If the file of an inspection is not kept any more, the file is sent again. */
export async function upload(
  target: UploadTarget,
  { file, inspection }: Uploaded,
  options: Record<string, string>,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<JobRecord> {
  if (inspection === null) return send(target, { ...options, file }, onProgress, signal)
  return send(target, { ...options, inspection }, onProgress, signal).catch((error: unknown) => {
    if (!(error instanceof ProblemError) || !['conflict', 'not-found'].includes(error.code)) throw error
    return send(target, { ...options, file }, onProgress, signal)
  })
}

/** Sends a form. Uses XMLHttpRequest, because fetch has no upload progress. */
async function send(
  { method, path }: UploadTarget,
  fields: Record<string, string | File>,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<JobRecord> {
  const token = await session.token()
  const form = new FormData()
  // The file is last, so that the server checks the options before it receives the file.
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    request.setRequestHeader('authorization', `Bearer ${token}`)
    request.upload.onprogress = ({ loaded }) => onProgress(loaded)
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as JobRecord)
      else
        reject(problemFrom(request.status, request.responseText, request.getResponseHeader('x-request-id')))
    }
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(signal.reason)
    signal.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}
