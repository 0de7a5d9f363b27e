import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { type McpContext, mcpServer } from './mcp-server.ts'

/**
 * The handler of one request, as the protocol without sessions wants it: nothing is kept between two of them. Routes
 * import this file with the first request, because the library takes a quarter of the time of a start.
 *
 * See docs/decisions/mcp-sdk.md.
 */
export function mcpHandler(
  context: McpContext,
  options: Parameters<typeof createMcpHandler>[1],
): McpHttpHandler {
  return createMcpHandler(() => mcpServer(context), options)
}
