import type { JobRow } from './job-store.ts'

/** What lines of the log about a job have: its id, its kind, and the id of the HTTP request that asked for it, if one did. */
export function jobFields({ id, kind, request }: JobRow): { job: string; kind: string; requestId?: string } {
  const requestId = requestIdIn(request)
  return { job: id, kind, ...(requestId === undefined ? {} : { requestId }) }
}

/** Uploads have the id with the rest of their origin. */
function requestIdIn(request: string | null): string | undefined {
  try {
    const { requestId, origin } = JSON.parse(request ?? '{}')
    const id: unknown = requestId ?? origin?.requestId
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
