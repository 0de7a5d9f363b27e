import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BareAnswer } from './bare-server.ts'

process.once('message', (answer: BareAnswer) => {
  const respond = sendBytes(answer)
  const server = createServer((_request, response) => respond(response))
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
})
// Exit if the parent dies; nothing else would end this process.
process.once('disconnect', () => process.exit())

function sendBytes({ status = 200, headers, body = new Uint8Array(), bodies = [body] }: BareAnswer) {
  const answers = bodies.map((bytes) => ({ bytes, all: { ...headers, 'content-length': bytes.length } }))
  let next = 0
  return (response: ServerResponse) => {
    const { bytes, all } = answers[next++ % answers.length]!
    response.writeHead(status, all)
    response.end(bytes)
  }
}
