import { ConnectionError, WayleaveError } from './errors.ts'
import type { Receipt } from './response-info.ts'
import { retrying } from './retry.ts'
import { CALL_OPTIONS, type CallOptions, open, type Transport } from './transport.ts'

export interface Progress {
  /** Bytes received so far. */
  received: number
  /** The size of the file in bytes, if it is known. */
  total: number | undefined
}

export interface DeliveryOptions extends CallOptions {
  /** An older version; the current one without it. */
  version?: number | undefined
  /** The most credits that it may cost; if it costs more, it fails with 402 `price-higher`. */
  maxCredits?: number | undefined
  onProgress?: ((progress: Progress) => void) | undefined
}

export const DELIVERY_OPTIONS: string[] = ['version', 'maxCredits', 'onProgress', ...CALL_OPTIONS]

export interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void> | void
  /** Discards what was written before. Without it, a download that cannot be resumed fails. */
  restart?(response: Response): void
}

export function filePath(table: string, format: string, version: number | undefined): string {
  const archive = version === undefined ? '' : `/archives/${version}`
  return `/v1/dataset/${encodeURIComponent(table)}${archive}/files/${encodeURIComponent(format)}`
}

/** Writes the whole file to the sink. After a broken connection it resumes at the byte where it stopped. */
export async function deliver(
  transport: Transport,
  path: string,
  sink: Sink,
  options: DeliveryOptions,
  receipt: Receipt,
): Promise<number> {
  let received = 0
  let begunAt = 0
  let etag: string | null = null
  const attempt = async () => {
    begunAt = received
    const headers: Record<string, string> = {}
    if (options.maxCredits !== undefined) headers['Credits-Max'] = String(options.maxCredits)
    if (received > 0 && etag) Object.assign(headers, { Range: `bytes=${received}-`, 'If-Range': etag })
    // A range is never compressed. Bytes that were already written can only be continued uncompressed.
    else if (!sink.restart) headers['Range'] = 'bytes=0-'
    const opened = await open(transport, path, headers, options)
    try {
      const { response } = opened
      receipt.note(response)
      const header = (name: string) => response.headers.get(name)
      const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(header('content-range') ?? '')
      const continues = response.status === 206 && Number(range?.[1]) === received
      if (!continues || (received > 0 && header('etag') !== etag)) {
        if (received > 0 && !sink.restart) {
          throw new WayleaveError(
            'The download cannot be resumed because the dataset has changed. Start it again.',
          )
        }
        received = begunAt = 0
        if (response.status === 206 && range?.[1] !== '0') {
          etag = null
          throw new ConnectionError('The service sent another part of the file than the one requested.')
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
      // A page of another origin may not see that the body was compressed; browsers check its length themselves.
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
