import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isInternalAddress } from './internal-address.ts'
import { OutsideRefused, outsideRequest } from './outside-request.ts'

const inside = { allowInternal: true }
const outside = { allowInternal: false }

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('internal addresses are distinguished from those of the internet, in every form', () => {
  const internal = [
    ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...['224.0.0.1', '255.255.255.255', '198.18.0.1', '::1', '::', 'fe80::1', 'fe80::1%eth0', 'fc00::1'],
    ...[
      'ff02::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:a00:1',
      '64:ff9b::a9fe:a9fe',
      '2002:7f00:1::',
    ],
    ...['2001:db8::1', '2001::1', 'fec0::1', '::127.0.0.1', 'localhost', ''],
  ]
  for (const address of internal) assert.equal(isInternalAddress(address), true, address)
  const external = [
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
  ]
  for (const address of [...external, '64:ff9b::808:808']) {
    assert.equal(isInternalAddress(address), false, address)
  }
})

test('no form of an internal address is connected to', async (t) => {
  let requests = 0
  const url = await serve(t, (_, response) => {
    requests++
    response.end()
  })
  const { port } = new URL(url)
  const hosts = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
  ]
  for (const host of [...hosts, '0.0.0.0', '[::]', '[::1]']) {
    await assert.rejects(outsideRequest(`http://${host}:${port}/`, outside), OutsideRefused, host)
  }
  assert.equal(requests, 0)
  for (const address of ['ftp://example.org/', 'file:///etc/passwd', 'nothing', 'data:text/plain,x']) {
    await assert.rejects(outsideRequest(address, inside), OutsideRefused, address)
  }
})

test('a redirect is the response, or followed so often and with a check each time', async (t) => {
  const seen: unknown[] = []
  const other = await serve(t, (request, response) => {
    const { authorization, 'x-auth-token': token, accept } = request.headers
    seen.push([authorization, token, accept])
    response.end('there')
  })
  const url = await serve(t, (request, response) => {
    const target = { '/away': other, '/loop': '/loop', '/odd': 'file:///etc/passwd' }[request.url!]
    response.writeHead(target ? 302 : 200, target ? { location: target } : {}).end('here')
  })
  const headers = { authorization: 'Bearer secret', 'X-Auth-Token': 'secret', accept: 'text/csv' }
  assert.equal((await outsideRequest(`${url}/away`, { ...inside, headers })).statusCode, 302)
  const followed = await outsideRequest(`${url}/away`, { ...inside, headers, maxRedirects: 3 })
  assert.equal(await new Response(followed as never).text(), 'there')
  assert.deepEqual(seen, [[undefined, undefined, 'text/csv']], 'another origin does not get the credentials')
  await assert.rejects(outsideRequest(`${url}/loop`, { ...inside, maxRedirects: 3 }), /too often/)
  await assert.rejects(outsideRequest(`${url}/odd`, { ...inside, maxRedirects: 3 }), OutsideRefused)
})

test('a receiver that never answers, or that sends its headers byte by byte, is given up', async (t) => {
  const url = await serve(t, (request, response) => {
    if (request.url === '/silent') return
    const timer = setInterval(() => response.socket?.write('x'), 20)
    response.socket!.write('HTTP/1.1 200 OK\r\nx-slow: ')
    response.socket!.on('close', () => clearInterval(timer))
  })
  for (const path of ['/silent', '/trickle']) {
    await assert.rejects(outsideRequest(url + path, { ...inside, timeoutMs: 200 }), /No answer within/)
  }
})
