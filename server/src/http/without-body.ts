import type { FastifyRequest } from 'fastify'

/**
 * An `onRequest` hook for calls that take no body: many clients announce `application/json` at every POST,
 * and nothing at all is no JSON.
 */
export async function withoutBody(request: FastifyRequest): Promise<void> {
  const { headers } = request.raw
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    delete headers['content-type']
  }
}
