import type { FastifyRequest } from 'fastify'

/**
 * An `onRequest` hook for calls without a body: many clients send `Content-Type: application/json` with every
 * POST, and an empty body is not valid JSON.
 */
export async function withoutBody(request: FastifyRequest): Promise<void> {
  const { headers } = request.raw
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    delete headers['content-type']
  }
}
