import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { needs } from '../../scripts/test-run/needs.ts'
import { closeBrowser, inBrowser } from './test-browser.ts'
import { points, TestServer } from './test-server.ts'

needs('chromium', 'processes')

const attribution = '<img src=x onerror="document.title=1"> Ada & Co.'
const service = new TestServer()
const dist = mkdtempSync(join(tmpdir(), 'wayleave-dist-'))
/** Another server, whose data the map shows too. It must never see the key. */
const requestsElsewhere: IncomingHttpHeaders[] = []
const elsewhere = createServer((request, response) => {
  requestsElsewhere.push(request.headers)
  response.writeHead(200, {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*',
    'content-type': 'application/geo+json',
  })
  response.end('{"type":"FeatureCollection","features":[]}')
})
let options: string
let otherUrl: string

before(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts'), dist])
  await once(elsewhere.listen(0, '127.0.0.1'), 'listening')
  otherUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  await service.publish('places', points(3000), '--attribution', attribution)
  await service.publish('many', points(12_000).map(nearEquator))
  await service.publish('words', [{ type: 'Feature', properties: { word: 'a' }, geometry: null }])
  await service.start()
  const apiKey = await service.platformKey()
  options = JSON.stringify({ apiKey, baseUrl: service.url })
  await service.tilesOf('places', apiKey)
})

after(async () => {
  await closeBrowser()
  elsewhere.close()
  await service.close()
  rmSync(dist, { recursive: true, force: true })
})

/** Features that every map of the whole world shows. */
function nearEquator(feature: object, index: number): object {
  return { ...feature, geometry: { type: 'Point', coordinates: [(index % 200) / 10, index / 1000] } }
}

const head = () => `
  import { Map } from 'maplibre-gl'
  import { addItemsSource, Wayleave } from '@wayleave/client'
  const wayleave = new Wayleave(${options})
  const map = new Map({
    container: 'map',
    style: { version: 8, sources: {}, layers: [] },
    center: [0, 0],
    zoom: 4,
    fadeDuration: 0,
    transformRequest: wayleave.transformRequest,
  })
  await map.once('load')
  const inside = (feature) => {
    const bounds = map.getBounds()
    const [x, y] = feature.geometry.coordinates
    return [-360, 0, 360].some((turn) => bounds.contains([x + turn, y]))
  }`

test('a map shows tiles of all features and of those that a filter selects; the attribution is text', async () => {
  const seen = await inBrowser(
    join(dist, 'client.js'),
    `${head()}
    const shown = async (options) => {
      const source = await wayleave.tiles('places', options)
      map.addSource('tiles', source)
      map.addLayer({ id: 'tiles', type: 'circle', source: 'tiles', 'source-layer': 'places' })
      map.jumpTo({ center: [0, 0], zoom: 3 })
      await map.once('idle')
      const ids = new Set(map.querySourceFeatures('tiles', { sourceLayer: 'places' }).map(({ id }) => id))
      const text = document.querySelector('.maplibregl-ctrl-attrib-inner').textContent
      map.removeLayer('tiles')
      map.removeSource('tiles')
      return { count: ids.size, text, keys: Object.keys(source), title: document.title }
    }
    const all = await shown()
    const some = await shown({ filter: 'number <= 1000' })
    const unknown = await wayleave.tiles('places', { filtre: 'x' }).then(String, (error) => error.message)
    report({ all, some, unknown })`,
  )
  type Shown = { count: number; text: string; title: string }
  const { all, some, unknown } = seen as { all: Shown; some: Shown; unknown: string }
  assert.ok(all.count > 0)
  assert.ok(some.count < all.count, `${some.count} of ${all.count}`)
  assert.ok(all.text.includes(attribution), all.text)
  assert.notEqual(all.title, '1')
  assert.match(unknown, /filtre/)
})

test('a map shows the features of its view, loads others when it moves, and forgets them all', async () => {
  const seen = await inBrowser(
    join(dist, 'client.js'),
    `${head()}
    const views = []
    let wake = () => {}
    const source = await addItemsSource(map, wayleave, 'places', {
      onUpdate: (view) => { views.push(view); wake() },
    })
    map.addLayer({ id: 'dots', type: 'circle', source: 'places' })
    const features = async () => (await map.getSource('places').getData()).features
    const first = await features()
    await map.once('idle')
    const drawn = map.querySourceFeatures('places').length
    const text = document.querySelector('.maplibregl-ctrl-attrib').textContent

    const move = (where) => new Promise((resolve) => { wake = resolve; map.jumpTo(where) })
    await move({ center: [179, 0] })
    const second = await features()
    const allInside = second.length > 3 && second.every(inside)
    const crosses = second.some((one) => one.geometry.coordinates[0] < -170)

    // Zooming in shows what is loaded already.
    const count = views.length
    map.jumpTo({ zoom: 5 })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const silent = views.length === count
    map.jumpTo({ zoom: 4 })

    await source.refresh()
    const last = source.view
    source.remove()
    map.jumpTo({ center: [50, 20] })
    await new Promise((resolve) => setTimeout(resolve, 300))
    report({
      first: first.length > 10 && views[0].loaded === first.length && views[0].complete,
      matched: views[0].matched === first.length,
      allInside,
      drawn: drawn > 0, text, crosses, silent, last: last.complete,
      afterwards: [views.length, map.getSource('places'), map.getLayer('dots')].map(String),
      title: document.title,
    })`,
  )
  const { text, afterwards, ...rest } = seen as { text: string; afterwards: string[] }
  assert.match(text, /<img src=x onerror="document\.title=1"> Ada & Co\./)
  assert.deepEqual(afterwards, ['3', 'undefined', 'undefined'])
  assert.deepEqual(rest, {
    first: true,
    matched: true,
    allInside: true,
    drawn: true,
    crosses: true,
    silent: true,
    last: true,
    title: '',
  })
})

test('a view with too many features says so, and pages are followed up to the limit', async () => {
  const seen = await inBrowser(
    join(dist, 'client.js'),
    `${head()}
    map.jumpTo({ zoom: 0 })
    const few = await addItemsSource(map, wayleave, 'many', { id: 'few', maxFeatures: 100 })
    const most = await addItemsSource(map, wayleave, 'many', { id: 'most', maxFeatures: 11000 })
    const all = await addItemsSource(map, wayleave, 'many', { id: 'all', maxFeatures: 20000 })
    const some = await addItemsSource(map, wayleave, 'many', {
      id: 'some', filter: 'number <= 7', columns: ['number'], source: { promoteId: 'number' },
    })
    const summary = ({ view }) => [view.loaded, view.complete]
    const failure = (call) => call.then(() => 'none', (error) => error.name + ': ' + error.message)
    report({
      views: [few, most, all, some].map(summary),
      properties: (await map.getSource('some').getData()).features.map(({ properties }) => Object.keys(properties).join()),
      failures: [
        await failure(addItemsSource(map, wayleave, 'words')),
        await failure(addItemsSource(map, wayleave, 'plaecs')),
        await failure(addItemsSource(map, wayleave, 'places', { maxFeature: 1 })),
        await failure(addItemsSource(map, wayleave, 'places', { id: 'broken', filter: 'nonsense' })),
      ],
      left: Object.keys(map.getStyle().sources).join(),
    })`,
  )
  const { failures, ...rest } = seen as { failures: string[] }
  assert.deepEqual(rest, {
    views: [
      [100, false],
      [11_000, false],
      [12_000, true],
      [7, true],
    ],
    properties: Array(7).fill('number'),
    left: 'few,most,all,some',
  })
  const expected = [
    /has no geometry/,
    /Did you mean "places"/,
    /Did you mean "maxFeatures"/,
    /^BadRequestError/,
  ]
  for (const [index, pattern] of expected.entries()) assert.match(failures[index]!, pattern)
})

test('a map’s own requests carry the key to the service and not elsewhere', async () => {
  const seen = await inBrowser(
    join(dist, 'client.js'),
    `${head()}
    const items = ${JSON.stringify(`${service.url}/v1/ogc/collections/places/items?limit=5`)}
    map.addSource('ours', { type: 'geojson', data: items })
    map.addSource('theirs', { type: 'geojson', data: ${JSON.stringify(`${otherUrl}/v1/data.geojson`)} })
    map.addLayer({ id: 'a', type: 'circle', source: 'ours' })
    map.addLayer({ id: 'b', type: 'circle', source: 'theirs' })
    const errors = []
    map.on('error', ({ error }) => errors.push(String(error)))
    await map.once('idle')
    report({ ours: (await map.getSource('ours').getData()).features.length, errors })`,
  )
  assert.deepEqual(seen, { ours: 5, errors: [] })
  assert.ok(requestsElsewhere.length > 0)
  for (const headers of requestsElsewhere) assert.doesNotMatch(JSON.stringify(headers), /x-api-key|svc_live/i)
})

/** The map of the documentation, of another dataset. */
function documentedMap(secret: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/tiles.md'), 'utf8')
  const code = /^```js\n(new Map.*?)^```$/ms.exec(page)![1]!
  return code
    .replace('http://127.0.0.1:8080', service.url)
    .replace('countries', 'places')
    .replace('YOUR_KEY', secret)
}

test('a key with the page’s origin shows a map by the URL of a style, and fails in a page of another origin', async () => {
  const client = join(dist, 'client.js')
  const origin = (await inBrowser(client, 'report(location.origin)')) as string
  await service.command('tiles', 'places')
  const lists = ['--allowed-origins', origin]
  const { secret } = await service.command(
    ...['key', 'create', '--platform', '--name', 'Page', '--permissions', 'read:places', ...lists],
  )
  const seen = await inBrowser(
    client,
    `import { Map } from 'maplibre-gl'
    const collection = '${service.url}/v1/ogc/collections/places'
    const map = ${documentedMap(secret)}
    const failed = new Promise((resolve) => map.once('error', ({ error }) => resolve(error.message)))
    const error = await Promise.race([failed, map.once('idle').then(() => null)])
    const shown = error === null ? map.queryRenderedFeatures().length : 0
    const options = { headers: { 'X-API-Key': '${secret}' } }
    const response = await fetch(collection + '/items?limit=1', options)
    const { code = null } = await response.json()
    // Without CORS the browser sends no Origin, as for an image, but a Referer.
    const image = new Image()
    image.src = '${service.url}/v1/dataset/places/thumbnail.svg?api_key=${secret}'
    const isImageShown = await new Promise((resolve) => {
      image.onload = () => resolve(true)
      image.onerror = () => resolve(false)
    })
    const here = { origin: location.origin, error, shown, status: response.status, code, isImageShown }
    if (location.hostname === 'localhost') parent.postMessage(here, '*')
    else {
      // The same module in a page of another origin.
      const frame = document.createElement('iframe')
      frame.src = location.origin.replace('127.0.0.1', 'localhost')
      const message = new Promise((resolve) => addEventListener('message', resolve, { once: true }))
      document.body.append(frame)
      report([here, (await message).data])
    }`,
  )
  const [here, there] = seen as { error: string | null; shown: number }[]
  assert.ok(here!.shown > 0, JSON.stringify(here))
  const { shown: _, ...own } = here!
  assert.deepEqual(own, { origin, error: null, status: 200, code: null, isImageShown: true })
  assert.match(there!.error ?? '', /403/)
  const { error: __, ...other } = there!
  assert.deepEqual(other, {
    origin: origin.replace('127.0.0.1', 'localhost'),
    shown: 0,
    status: 403,
    code: 'origin-not-allowed',
    isImageShown: false,
  })
})
