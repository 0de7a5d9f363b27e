import {
  type keyChangeSchema,
  keyRecordSchema,
  rotatedKeySchema,
  rotationSchema,
} from '@wayleave/contract/records'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { absentBodyIsEmpty, withoutBody } from '../../http/headers.ts'
import type { security } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { KeyActor } from './key-access.ts'
import type { Keys } from './keys.ts'

export interface KeyPath {
  keys: Keys
  /** Ends in `:keyId`. */
  path: string
  tag: string
  /** The documented form of a change: only a platform key may have `admin`. */
  changeSchema: typeof keyChangeSchema
  security: typeof security.administrator
  onRequest: Authenticate['user']
  actorOf: (request: FastifyRequest) => KeyActor
}

const params = Type.Object({ keyId: Type.String() })

/** The operations on one key: the same for an account's keys and, under another path, for the platform's. */
export function keyPathRoutes(
  app: App,
  { keys, path, tag, changeSchema, security, onRequest, actorOf }: KeyPath,
): void {
  const documented = { tags: [tag], security, params }

  app.get(path, {
    onRequest,
    schema: { ...documented, summary: 'One key', response: { 200: keyRecordSchema } },
    handler: (request) => keys.view(actorOf(request), request.params.keyId),
  })

  app.patch(path, {
    onRequest,
    schema: {
      ...documented,
      summary: 'Change a key’s name, permissions, expiry or allowed callers',
      problems: ['key-state-conflict'],
      description: 'The secret stays as it is. `null` removes an expiry or a list of allowed callers.',
      body: changeSchema,
      response: { 200: keyRecordSchema },
    },
    handler: (request) => keys.change(actorOf(request), request.params.keyId, request.body),
  })

  app.post(`${path}/rotate`, {
    onRequest: [onRequest, withoutBody],
    preValidation: absentBodyIsEmpty,
    schema: {
      ...documented,
      summary: 'Give a key a new secret',
      problems: ['key-state-conflict'],
      description:
        'Without a body the old secret stops working before the call returns. With `overlapSeconds` it goes on working for that time; a secret that was still working from an earlier rotation ends at once. The response contains the new secret, only this once.',
      body: rotationSchema,
      documented: { isBodyOptional: true },
      response: { 200: rotatedKeySchema },
    },
    handler: (request) => keys.rotate(actorOf(request), request.params.keyId, request.body),
  })

  app.post(`${path}/revoke`, {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Disable a key for good and keep its record',
      problems: ['key-state-conflict'],
      response: { 200: keyRecordSchema },
    },
    handler: (request) => keys.revoke(actorOf(request), request.params.keyId),
  })

  app.delete(path, {
    onRequest: [onRequest, withoutBody],
    schema: { ...documented, summary: 'Delete a key and its record', response: { 204: Type.Null() } },
    handler: async (request, reply) => {
      await keys.delete(actorOf(request), request.params.keyId)
      return reply.code(204).send(null)
    },
  })
}
