import { createReadStream, statSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import type { BareAnswer } from './bare-server.ts'

process.once('message', (answer: BareAnswer) => {
  const respond = answer.file === undefined ? sendBytes(answer) : sendFile(answer, answer.file)
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

function sendFile({ status = 200, headers }: BareAnswer, file: string) {
  const all = { ...headers, 'content-length': statSync(file).size }
  return (response: ServerResponse) => {
    response.writeHead(status, all)
    pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), response, () => {})
  }
}
