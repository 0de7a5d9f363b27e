import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A map server of the operator, on another origin. Its style has two layers and no data. */
export type TestBasemap = Awaited<ReturnType<typeof startBasemap>>

export async function startBasemap() {
  const style = {
    version: 8,
    sources: { land: { type: 'geojson', data: 'land.json' } },
    layers: [
      { id: 'points', type: 'background', paint: { 'background-color': '#e8e8e8' } },
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': '#ffffff' } },
    ],
  }
  const basemap = {
    origin: '',
    requests: [] as string[],
    /** The file at /planet.pmtiles, and the ranges of it that were requested. */
    archive: Buffer.alloc(0),
    ranges: [] as string[],
    stop: () => server.close(),
  }
  const server = createServer(({ url, headers }, response) => {
    basemap.requests.push(url!)
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    if (url === '/planet.pmtiles' && headers.range) {
      basemap.ranges.push(headers.range)
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range)!
      response.writeHead(206).end(basemap.archive.subarray(Number(first), Number(last) + 1))
      return
    }
    response.setHeader('content-type', url === '/' ? 'text/html' : 'application/json')
    const empty = { type: 'FeatureCollection', features: [] }
    response.end(
      url === '/' ? '<title>Another site</title>' : JSON.stringify(url === '/style.json' ? style : empty),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  basemap.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return basemap
}
