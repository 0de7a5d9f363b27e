import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { SourceError } from '@wayleave/geodata/compile'
import type { Fetched, FetchOptions } from './fetch-options.ts'
import { SourceFile } from './source-file.ts'
import { openUrl, shown, TransientSourceError, withRetries } from './source-http.ts'

/** A file at an address. A download that breaks off is resumed if the server allows that. */
export async function fetchFile(address: string, options: FetchOptions): Promise<Fetched> {
  const url = new URL(address)
  const { signal, validators } = options
  const conditions = {
    ...(validators?.etag ? { 'if-none-match': validators.etag } : {}),
    ...(validators?.lastModified && !validators.etag ? { 'if-modified-since': validators.lastModified } : {}),
  }
  const file = await SourceFile.create(join(options.folder, 'source'), options)
  try {
    let first: IncomingMessage | null = null
    const begin = async () => {
      first = await openUrl(url, options, conditions, [200, 304])
      if (first.statusCode === 304) return false
      await receive(first, url, file, options)
      return true
    }
    const isNew = await withRetries(signal, () =>
      file.bytes === 0 ? begin() : resume(url, first!, file, options),
    )
    const { headers } = first as unknown as IncomingMessage
    if (!isNew) {
      ;(first as unknown as IncomingMessage).destroy()
      return null
    }
    if (file.bytes === 0) throw new SourceError(`${shown(url)} is empty.`)
    return {
      path: file.path,
      file: fileNameOf(url, headers['content-disposition']),
      bytes: file.bytes,
      validators: {
        etag: headers.etag ?? null,
        lastModified: headers['last-modified'] ?? null,
        checksum: file.checksum(),
      },
    }
  } finally {
    await file.close()
  }
}

/** Requests the rest. If the server sends the whole file instead, because it has changed, everything is replaced. */
async function resume(
  url: URL,
  first: IncomingMessage,
  file: SourceFile,
  options: FetchOptions,
): Promise<boolean> {
  const { etag } = first.headers
  // A weak tag does not promise equal bytes.
  const validator = etag?.startsWith('"') ? etag : undefined
  const range = validator ? { range: `bytes=${file.bytes}-`, 'if-range': validator } : {}
  const response = await openUrl(url, options, range, [200, 206])
  const continues = new RegExp(`^bytes ${file.bytes}-`).test(response.headers['content-range'] ?? '')
  if (response.statusCode !== 206 || !continues) {
    await file.restart()
    if (response.statusCode === 206) {
      response.destroy()
      throw new TransientSourceError(`${shown(url)} sent another part than was asked for.`)
    }
    first.headers = response.headers
  }
  await receive(response, url, file, options)
  return true
}

async function receive(
  response: IncomingMessage,
  url: URL,
  file: SourceFile,
  { received }: FetchOptions,
): Promise<void> {
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received(chunk.length)
      await file.write(chunk)
    }
  } catch (error) {
    response.destroy()
    if (error instanceof SourceError || isDiskError(error)) throw error
    throw new TransientSourceError(`${shown(url)} broke off after ${file.bytes} bytes.`, null, {
      cause: error,
    })
  }
}

function isDiskError(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EIO', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** The name that the server gives, or the last part of the path. */
function fileNameOf(url: URL, disposition = ''): string {
  const given =
    /filename\*=utf-8''([^;]+)/i.exec(disposition)?.[1] ?? /filename="?([^";]+)/i.exec(disposition)?.[1]
  const last = given ?? url.pathname.split('/').findLast((part) => part !== '') ?? url.hostname
  let name = last
  try {
    name = decodeURIComponent(last)
  } catch {}
  return name.replace(/[^\p{L}\p{N}._ -]/gu, '_').slice(-200)
}
