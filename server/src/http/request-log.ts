import type { FastifyReply, FastifyRequest } from 'fastify'
import pino, { type Logger } from 'pino'
import { redact } from './logger.ts'

/** What programs ask every few seconds is of interest only when it fails. */
const ROUTINE = new Set(['/health', '/ready', '/metrics'])
/** Longer than any name of ours: whatever has it may be a secret that someone put into an address. */
const SECRET_LIKE = /[\w-]{26}/
const INFO = 30
const DEBUG = 20

/**
 * One line a request, in the log's own form but put together by hand: the general way of writing a line, and
 * of searching it for secrets, took a third of the time of a small request. The path and a
 * forwarded address come from outside.
 */
export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply, path: string): void {
  const level = ROUTINE.has(path) && reply.statusCode < 400 ? DEBUG : INFO
  if (level < log.levelVal) return
  const shown = JSON.stringify(SECRET_LIKE.test(path) ? redact(path) : path)
  // The address of a reader that has left is not known any more.
  const address = JSON.stringify((request.ip as string | undefined) ?? null)
  const ms = Math.round(reply.elapsedTime * 10) / 10
  const stream = (log as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym]!
  stream.write(
    `{"level":${level},"time":"${new Date().toISOString()}","requestId":${JSON.stringify(request.id)},"method":"${request.method}","path":${shown},"status":${reply.statusCode},"ms":${ms},"address":${address},"msg":"request"}\n`,
  )
}
