import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { Problem } from '../../../base/problem.ts'

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^;\s]*))/i
const MAX_BOUNDARY = 200
const CRLF = Buffer.from('\r\n')

/**
 * The body of a request, which is a form, up to `maxParts` parts. The parser of forms makes a stream for each part of a
 * chunk of 64 KB before it looks at its own limits: 900 empty parts on 16 connections delayed others by 250 ms.
 * Counting their delimiters takes less than 0.1 ms.
 */
export function boundForm(request: IncomingMessage, maxParts: number): IncomingMessage {
  const boundary = boundaryOf(request.headers['content-type'] ?? '')
  const bounded = boundParts(boundary, maxParts)
  request.once('error', (error) => bounded.destroy(error))
  request.once('close', () => {
    if (!request.readableEnded)
      bounded.destroy(new Problem('invalid-input', 'The form broke off before its end.'))
  })
  request.pipe(bounded)
  // The parser takes its boundary from here, so that it is the one that was counted.
  const headers = { ...request.headers, 'content-type': `multipart/form-data; boundary="${boundary}"` }
  return Object.assign(bounded, { headers }) as unknown as IncomingMessage
}

function boundaryOf(contentType: string): string {
  const match = BOUNDARY.exec(contentType)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  if (!/^[ !#-[\]-~]+$/.test(boundary) || boundary.length > MAX_BOUNDARY)
    throw new Problem('invalid-input', 'The form cannot be read: its media type has no valid boundary.')
  return boundary
}

/** Passes a form on until it has more parts. */
export function boundParts(boundary: string, maxParts: number): Transform {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const seam = delimiter.length - 1
  // The first delimiter may be at the beginning.
  let tail: Buffer = CRLF
  // The last delimiter ends the form.
  let left = maxParts + 1
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= countOf(delimiter, Buffer.concat([tail, chunk.subarray(0, seam)]), left)
      left -= countOf(delimiter, chunk, left)
      if (left < 0) {
        done(new Problem('body-too-large', `A form may have at most ${maxParts} parts.`))
        return
      }
      tail = chunk.length >= seam ? chunk.subarray(-seam) : Buffer.concat([tail, chunk]).subarray(-seam)
      done(null, chunk)
    },
  })
}

/** How often bytes have a delimiter, up to one more than `max`. */
function countOf(delimiter: Buffer, bytes: Buffer, max: number): number {
  let count = 0
  for (let at = bytes.indexOf(delimiter); at !== -1 && count <= max; ) {
    count++
    at = bytes.indexOf(delimiter, at + delimiter.length)
  }
  return count
}
