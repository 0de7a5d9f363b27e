import type { JobRecord } from '@wayleave/contract/records'
import { problemFrom, unreachable } from '../api/problem.ts'
import { session } from '../api/session.ts'

/** Uploads a file to be published. Uses XMLHttpRequest, because fetch has no upload progress. */
export async function upload(
  table: string,
  file: File,
  options: Record<string, string>,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<JobRecord> {
  const token = await session.token()
  const query = new URLSearchParams({ ...options, filename: file.name })
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', `/v1/dataset/${table}?${query}`)
    request.setRequestHeader('authorization', `Bearer ${token}`)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.upload.onprogress = ({ loaded }) => onProgress(loaded)
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as JobRecord)
      else
        reject(problemFrom(request.status, request.responseText, request.getResponseHeader('x-request-id')))
    }
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(signal.reason)
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
