import { jsonShape } from '@wayleave/geodata/base'
import type { FastifyRequest } from 'fastify'
import { invalidInput } from '../base/problem.ts'
import type { App } from './fastify-app.ts'
import { requestTurns, senderAt } from './sockets/request-turns.ts'

/** What is sent to sign in: an address, a code or a token. It is parsed before anybody is known. */
export const SIGN_IN_BODY_LIMIT = 16 * 1024
/** Most bodies are a few texts. Routes that need more say so; uploads have a limit of their own. */
export const BODY_LIMIT = 64 * 1024
/** For filters with large geometries, notes on a thousand columns, and events of others. */
export const LONG_BODY_LIMIT = 256 * 1024

/** A body of JSON may have one value for so many bytes of its route's limit: texts are the long part of large bodies. */
const BYTES_PER_VALUE = 64
const MAX_DEPTH = 32

/**
 * Refuses JSON with more values, or nested more deeply, than its reader needs. Call it before parsing: parsing and
 * checking 20,000 members takes 30 ms, and finding out that there are so many less than one.
 */
export function boundJson(
  json: string | Uint8Array,
  max: { values: number; depth: number },
  what = 'body',
): void {
  const { commas, depth } = jsonShape(json, { commas: max.values - 1, depth: max.depth })
  if (commas >= max.values) throw invalidInput(what, `must have at most ${max.values} values`)
  if (depth > max.depth) throw invalidInput(what, `must be nested at most ${max.depth} deep`)
}

type Done = (error: Error | null, body?: unknown) => void

/**
 * Parses a body that has arrived in a turn of its sender. Otherwise all bodies that arrive in one iteration of the
 * event loop are parsed in it, however many there are.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export function parseInTurn(
  request: Pick<FastifyRequest, 'ip' | 'headers'>,
  done: Done,
  parse: () => void,
): void {
  requestTurns.take(
    () => senderAt(request.ip, request.headers),
    () => {
      try {
        parse()
      } catch (error) {
        done(error as Error)
      }
    },
  )
}

/** Bounds the JSON bodies of all routes that have no parser of their own. What is refused never becomes a text. */
export function readJsonBodies(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  // As bytes, because a text that is put together from its parts is garbage that stops others when it is collected.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    parseInTurn(request, done, () => {
      const values = Math.floor(request.routeOptions.bodyLimit / BYTES_PER_VALUE)
      boundJson(body, { values, depth: MAX_DEPTH })
      parse(request, body.toString(), done)
    })
  })
}
