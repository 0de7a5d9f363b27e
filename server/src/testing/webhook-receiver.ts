import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { cleanUp } from './cleanup.ts'

export interface ReceivedMessage {
  headers: Record<string, string>
  payload: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every type.
  body: any
}

export interface WebhookReceiver {
  url: string
  received: ReceivedMessage[]
  /** How it responds; by default with 204. */
  respond: (response: ServerResponse, message: ReceivedMessage) => void
  /** The requests that it has not responded to. */
  close(): Promise<void>
}

/** A real receiver of webhooks on loopback. */
export async function openReceiver(t: TestContext): Promise<WebhookReceiver> {
  const receiver: WebhookReceiver = {
    url: '',
    received: [],
    respond: (response) => void response.writeHead(204).end(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const payload = Buffer.concat(chunks).toString('utf8')
    const message = { headers: textHeaders(request.headers), payload, body: JSON.parse(payload) }
    receiver.received.push(message)
    receiver.respond(response, message)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  cleanUp(t, () => receiver.close())
  return receiver
}

function textHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
