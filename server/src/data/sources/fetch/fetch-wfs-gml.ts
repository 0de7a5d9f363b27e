import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { SourceError } from '@wayleave/geodata/compile'
import { fetchFile } from './fetch-file.ts'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'

/** The first element of a response is within these bytes. */
const HEAD_BYTES = 1 << 16

/**
 * All features of a WFS that offers GML only, as one file, which GDAL reads in the sandbox of the compilation. Pages
 * of GML cannot be put together without parsing them here, so the service must send all features at a time.
 */
export async function fetchWfsGml(
  url: URL,
  { typeName, expected }: { typeName: string; expected: number },
  options: FetchOptions,
): Promise<FetchedSource> {
  // Conditions of the last time do not apply: the time of the response is part of it.
  const fetched = (await fetchFile(url.href, { ...options, validators: undefined }))!
  const handle = await open(fetched.path, 'r+')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = buffer.toString('latin1', 0, bytesRead)
    requireAll(head, typeName, expected)
    const stamp = /\stimeStamp="[^"]*"/.exec(head)
    if (stamp) await handle.write(Buffer.alloc(stamp[0].length, ' '), 0, stamp[0].length, stamp.index)
  } finally {
    await handle.close()
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(fetched.path), hash, { signal: options.signal })
  const validators = { etag: null, lastModified: null, checksum: hash.digest('hex') }
  return { ...fetched, file: `${typeName.replace(/^.*:/, '')}.gml`, validators }
}

function requireAll(head: string, typeName: string, expected: number): void {
  const returned = /\snumberReturned="(\d+)"/.exec(head)?.[1]
  if (returned === undefined)
    throw new SourceError(`The service did not respond with the features of ${typeName} as GML.`)
  if (Number(returned) !== expected)
    throw new SourceError(
      `${typeName} has ${expected} features, and the service sends ${returned} at a time as GML: nothing was published. Pages are only read of services that offer GeoJSON.`,
    )
}
