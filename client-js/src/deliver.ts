import { ConnectionError, WayleaveError } from './errors.ts'
import { retrying } from './retry.ts'
import { type CallOptions, open, type Transport } from './transport.ts'

export interface Progress {
  /** Bytes so far. */
  received: number
  /** Bytes in all, where that is known. */
  total: number | undefined
}

export interface DeliveryOptions extends CallOptions {
  /** An older version; without it, the current one. */
  version?: number | undefined
  onProgress?: ((progress: Progress) => void) | undefined
}

export interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void> | void
  /** Forget what came before. Without it, a download that cannot be resumed fails. */
  restart?(response: Response): void
}

export function filePath(table: string, format: string, version: number | undefined): string {
  const archive = version === undefined ? '' : `/archives/${version}`
  return `/v1/dataset/${encodeURIComponent(table)}${archive}/files/${encodeURIComponent(format)}`
}

/** Fills the sink with the whole file, after a break from where it stopped. */
export async function deliver(
  transport: Transport,
  path: string,
  sink: Sink,
  options: DeliveryOptions,
): Promise<number> {
  let received = 0
  let begunAt = 0
  let etag: string | null = null
  const attempt = async () => {
    begunAt = received
    const headers: Record<string, string> = {}
    if (received > 0 && etag) Object.assign(headers, { Range: `bytes=${received}-`, 'If-Range': etag })
    // A range is never packed for the journey: only so can bytes already given away be continued.
    else if (!sink.restart) headers['Range'] = 'bytes=0-'
    const opened = await open(transport, path, headers, options)
    try {
      const { response } = opened
      const header = (name: string) => response.headers.get(name)
      const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(header('content-range') ?? '')
      const continues = response.status === 206 && Number(range?.[1]) === received
      if (!continues || (received > 0 && header('etag') !== etag)) {
        if (received > 0 && !sink.restart) {
          throw new WayleaveError('The download cannot be resumed: the dataset has changed. Begin again.')
        }
        received = begunAt = 0
        if (response.status === 206 && range?.[1] !== '0') {
          etag = null
          throw new ConnectionError('The service sent another part than the one asked for.')
        }
      }
      if (received === 0) {
        const tag = header('etag')
        // A weak tag does not promise equal bytes.
        etag = tag?.startsWith('W/') ? null : tag
        sink.restart?.(response)
      }
      const length = range ? range[2] : header('content-encoding') ? null : header('content-length')
      const total = length ? Number(length) : undefined
      const report = () =>
        options.onProgress?.({ received, total: total && received > total ? undefined : total })
      report()
      for (let chunk = await opened.read(); chunk; chunk = await opened.read()) {
        await sink.write(chunk)
        received += chunk.length
        report()
      }
      // A page of another origin may not see that the body was packed; browsers check its length themselves.
      if (total && received < total && (headers['Range'] || response.type !== 'cors')) {
        throw new ConnectionError(`The connection ended after ${received} of ${total} bytes.`)
      }
    } finally {
      opened.close()
    }
  }
  await retrying(transport, options, attempt, () => received > begunAt)
  return received
}
