import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { writePart } from '@wayleave/geodata/testing'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { startNginx } from '../../../../../scripts/test-servers/nginx.ts'
import { operator } from '../../../base/events/events.ts'
import { newBucketSettings, openTestBucket } from '../../../testing/bucket.ts'
import { points, publishText } from '../../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../../testing/test-server.ts'
import { featuresOf, publishAddress, serve } from '../sources.test-kit.ts'

needs('tools', 's3')

const inside = { settings: { allowInternalAddresses: true } }

async function nginxFolder(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-nginx-'))
  execFileSync('chmod', ['755', folder])
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startNginx((port) => `server { listen 127.0.0.1:${port}; root ${folder}; }`)
  t.after(() => server.stop())
  return { folder, url: server.url }
}

test('a file at an address is published, zipped too, and not again while its ETag is the same', async (t) => {
  const service = await openTestServer(t, inside)
  const { folder, url } = await nginxFolder(t)
  writeFileSync(join(folder, 'places.geojson'), points(20))
  writeFileSync(join(folder, 'stops.csv'), 'stop,longitude,latitude\na,1,2\nb,3,4\n')
  execFileSync('python3', ['-m', 'zipfile', '-c', 'stops.zip', 'stops.csv'], { cwd: folder })
  const first = await publishAddress(service, 'places', `${url}/places.geojson`)
  assert.deepEqual([first?.report.rows, first?.report.file], [20, 'places.geojson'])
  assert.match(first!.validators.etag!, /^"/)
  const { validators } = first!
  assert.equal(await publishAddress(service, 'places', `${url}/places.geojson`, { validators }), null)
  // Another ETag with the same content is no new version either.
  writeFileSync(join(folder, 'copy.geojson'), points(20))
  assert.equal(await publishAddress(service, 'places', `${url}/copy.geojson`, { validators }), null)
  writeFileSync(join(folder, 'places.geojson'), points(21))
  const second = await publishAddress(service, 'places', `${url}/places.geojson`, { validators })
  assert.deepEqual([second?.report.version, second?.report.rows], [2, 21])
  assert.equal((await publishAddress(service, 'stops', `${url}/stops.zip`))?.report.rows, 2)
  await assert.rejects(publishAddress(service, 'none', `${url}/none.csv`), /responded with the status 404/)
})

test('a download that breaks off is resumed by a range, and one that has changed begins again', async (t) => {
  const service = await openTestServer(t, inside)
  const content = points(500)
  let state = 'first'
  const ranges: (string | undefined)[] = []
  const url = await serve(t, ({ headers }, response) => {
    const { range } = headers
    ranges.push(range)
    const etag = '"a"'
    if (state === 'first') {
      state = 'broken'
      response.writeHead(200, { etag, 'content-length': content.length })
      response.write(content.slice(0, 10_000), () => response.destroy())
      return
    }
    const from = Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0)
    const part = content.slice(from)
    response.writeHead(206, {
      etag,
      'content-length': part.length,
      'content-range': `bytes ${from}-${content.length - 1}/${content.length}`,
    })
    response.end(part)
  })
  const published = await publishAddress(service, 'places', `${url}/a.geojson`)
  assert.equal(published?.report.rows, 500)
  assert.deepEqual(ranges, [undefined, 'bytes=10000-'])
})

test('a certificate of an authority that is not trusted is refused, and one that is trusted is accepted', async (t) => {
  const service = await openTestServer(t, inside)
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-tls-'))
  execFileSync('chmod', ['755', folder])
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test authority')
  const server = ['-keyout', 'server.key', '-out', 'server.pem', '-subj', '/CN=localhost']
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=critical,CA:FALSE']
  openssl('req', '-x509', '-CA', 'ca.pem', '-CAkey', 'ca.key', ...newKey, ...server, ...names)
  const nginx = await startNginx(
    (port) =>
      `server { listen 127.0.0.1:${port} ssl; root ${folder}; ssl_certificate ${folder}/server.pem; ssl_certificate_key ${folder}/server.key; }`,
  )
  t.after(() => nginx.stop())
  writeFileSync(join(folder, 'places.geojson'), points(5))
  const address = `https://user:secret@localhost:${new URL(nginx.url).port}/places.geojson`
  await assert.rejects(publishAddress(service, 'places', address), /certificate that is not trusted/)
  const trusted = getCACertificates()
  t.after(() => setDefaultCACertificates(trusted))
  setDefaultCACertificates([...trusted, readFileSync(join(folder, 'ca.pem'), 'utf8')])
  assert.equal((await publishAddress(service, 'places', address))?.report.rows, 5)
})

test('addresses of the inside are refused, directly and by a redirect, and secrets are not sent on', async (t) => {
  const service = await openTestServer(t)
  for (const address of ['http://127.0.0.1:9/a.csv', 'https://localhost/a.csv', 'http://[::1]/a.csv'])
    await assert.rejects(publishAddress(service, 'a', address), /inside the network of the service/, address)
  await assert.rejects(
    publishAddress(service, 'a', 'postgres://a:b@127.0.0.1/gis', { sourceTable: 'a' }),
    /inside the network of the service/,
  )
  await assert.rejects(
    publishAddress(service, 'a', 'http://user:secret@example.org/a.csv'),
    /Credentials are only sent to addresses that begin with https/,
  )
  const permissive = await openTestServer(t, inside)
  let received: unknown
  const other = await serve(t, ({ headers }, response) => {
    received = [headers.authorization, headers['x-api-key']]
    response.end('a\n1\n')
  })
  const url = await serve(t, (_request, response) =>
    response.writeHead(302, { location: `${other}/b.csv` }).end(),
  )
  const headers = { 'x-api-key': 'hidden' }
  await publishAddress(permissive, 'b', `${url.replace('//', '//user:secret@')}/b.csv`, { headers })
  assert.deepEqual(received, [undefined, undefined])
  assert.ok(!permissive.logLines.join('').includes('secret'))
})

test('an object of a bucket is published, and not again while it is the same', async (t) => {
  const settings = newBucketSettings()
  const service = await openTestServer(t, { settings: { s3Endpoint: settings.s3Endpoint } })
  const bucket = await openTestBucket(t, settings)
  const key = new URL(settings.storageUrl!).pathname.slice(1)
  await bucket.write('places.geojson', Buffer.from(points(7)))
  const address = `s3://wayleave/${key}/places.geojson`
  const published = await publishAddress(service, 'places', address)
  assert.equal(published?.report.rows, 7)
  assert.equal(await publishAddress(service, 'places', address, { validators: published!.validators }), null)
  await assert.rejects(publishAddress(service, 'places', `${address}x`), /There is no object/)
  await assert.rejects(publishAddress(service, 'places', address, { isOperator: false }), /needs credentials/)
})

test('the Parquet files below a prefix of a bucket are published together, and not again while they are the same', async (t) => {
  const settings = newBucketSettings()
  const service = await openTestServer(t, { settings: { s3Endpoint: settings.s3Endpoint } })
  const bucket = await openTestBucket(t, settings)
  const key = new URL(settings.storageUrl!).pathname.slice(1)
  const local = join(temporaryFolder(t), 'part.parquet')
  const write = async (name: string, first: number, last: number) => {
    await writePart(local, first, last)
    await bucket.write(name, readFileSync(local))
  }
  await write('places/year=2023/part-0.parquet', 1, 3)
  await write('places/year=2024/part-0.parquet', 4, 5)
  await bucket.write('places/_SUCCESS', Buffer.from('x'))
  const address = `s3://wayleave/${key}/places/`
  const published = await publishAddress(service, 'places', address)
  assert.deepEqual([published!.report.rows, published!.report.file], [5, 'places'])
  const features = await featuresOf(service, 'places')
  assert.deepEqual(
    features.map(({ properties }) => [properties['n'], properties['year']]),
    [1, 2, 3, 4, 5].map((n) => [n, n < 4 ? 2023 : 2024]),
  )
  const { validators } = published!
  assert.equal(await publishAddress(service, 'places', address, { validators }), null)
  await write('places/year=2025/part-0.parquet', 6, 6)
  assert.equal((await publishAddress(service, 'places', address, { validators }))?.report.rows, 6)
  await assert.rejects(publishAddress(service, 'places', `${address}none/`), /There is no Parquet file below/)
})

test('a token in the address of a collection is sent for every page, also if links lack it', async (t) => {
  const service = await openTestServer(t, inside)
  const { features } = JSON.parse(points(4)) as { features: object[] }
  const url = await serve(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost')
    if (searchParams.get('token') !== 'sesame') return void response.writeHead(401).end()
    const at = Number(searchParams.get('at') ?? 0)
    const links = at === 0 ? [{ rel: 'next', href: '?at=2' }] : []
    response.end(JSON.stringify({ features: features.slice(at, at + 2), numberMatched: 4, links }))
  })
  const published = await publishAddress(service, 'copy', `${url}/collections/origin?token=sesame`)
  assert.equal(published?.report.rows, 4)
})

test('a collection of an OGC API is read page by page from another service', async (t) => {
  const service = await openTestServer(t, inside)
  const text = JSON.parse(points(2500)) as { features: { properties: object }[] }
  for (const [i, feature] of text.features.entries())
    feature.properties = { code: `c${i}`, big: i === 3 ? 'BIG' : i }
  const source = JSON.stringify(text).replace('"BIG"', '12345678901234567890')
  await publishText(service, 'origin', 'origin.geojson', source, { idColumn: 'code' })
  const { secret } = await service.parts.keys.createPlatform(operator, {
    name: 'Reader',
    permissions: ['read'],
  })
  const address = `${service.url}/v1/ogc/collections/origin`
  const headers = { 'x-api-key': secret }
  const published = await publishAddress(service, 'copy', address, { headers, idColumn: 'code' })
  assert.equal(published?.report.rows, 2500)
  assert.deepEqual(await featuresOf(service, 'copy'), await featuresOf(service, 'origin'))
  const { validators } = published!
  assert.equal(
    await publishAddress(service, 'copy', address, { headers, idColumn: 'code', validators }),
    null,
  )
  await assert.rejects(
    publishAddress(service, 'copy', address),
    /responded with the status 401: it needs credentials/,
  )
})
