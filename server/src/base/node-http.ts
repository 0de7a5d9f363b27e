import type http from 'node:http'

/**
 * Values of `node:http`. Importing them from the module itself makes Node evaluate all of its exports, WebSocket among
 * them, which loads the whole of fetch: a tenth of the time of a start.
 */
export const { Agent, IncomingMessage, request, ServerResponse, STATUS_CODES }: typeof http =
  process.getBuiltinModule('node:http')
