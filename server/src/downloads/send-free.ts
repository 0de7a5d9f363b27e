import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../http/headers.ts'
import { Problem } from '../problem.ts'
import { describeFile, rangeOf } from './download-headers.ts'
import type { ExportFile } from './exports/export-file.ts'

/** Sends the free responses 304, 416 and HEAD; returns null for all other requests. */
export function sendFree(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ExportFile,
  filename: string,
): FastifyReply | null {
  if (matchesEtag(request.headers['if-none-match'], file.etag)) {
    describeFile(reply, file, filename)
    return reply.code(304).send()
  }
  if (request.method === 'HEAD') {
    describeFile(reply, file, filename)
    return withoutBytes(reply.header('content-length', String(file.bytes)))
  }
  if (rangeOf(request, file) !== 'unsatisfiable') return null
  throw new Problem('range-not-satisfiable', `The file has ${file.bytes} bytes.`, {
    headers: { 'content-range': `bytes */${file.bytes}` },
  })
}

/** Sends an empty stream; with no payload Fastify would set `Content-Length: 0`. */
export function withoutBytes(reply: FastifyReply): FastifyReply {
  return reply.send(Readable.from([]))
}
