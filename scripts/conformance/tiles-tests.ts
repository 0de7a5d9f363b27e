import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Collection, type Link, read } from './documents.ts'
import { type Answer, type Api, Skipped, type Suite } from './suite.ts'

const REL = 'http://www.opengis.net/def/rel/ogc/1.0'
const CONF = '/conf'
const MVT = 'application/vnd.mapbox-vector-tile'
/** How long tiles that are still being built are waited for. */
const PATIENCE_MS = 120_000

interface Described {
  links: (Link & { templated?: boolean })[]
  dataType?: string
  crs?: unknown
  tileMatrixSetURI?: string
  tileMatrixSetLimits?: {
    tileMatrix: string
    minTileRow: number
    maxTileRow: number
    minTileCol: number
    maxTileCol: number
  }[]
}

interface TileMatrixSet {
  crs: unknown
  tileMatrices: { id: string; matrixWidth: number; matrixHeight: number; tileWidth: number }[]
}

/** The abstract tests of OGC API - Tiles, Part 1 (annex A), for the tilesets of collections. */
export async function tilesTests(suite: Suite, api: Api, collections: readonly Collection[]): Promise<void> {
  await suite.test(`${CONF}/core/conformance-success`, '/conformance', async () => {
    const { conformsTo } = await read<{ conformsTo: string[] }>(api, '/conformance')
    for (const name of ['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'mvt', 'tilejson', 'oas30'])
      assert.ok(conformsTo.includes(`http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/${name}`), name)
  })
  for (const { id } of collections) await collectionTests(suite, api, id)
}

async function collectionTests(suite: Suite, api: Api, id: string): Promise<void> {
  let tileset: Described | null = null
  let set: TileMatrixSet | null = null
  const required = <T>(value: T | null): T => {
    if (value === null) throw new Skipped('the collection has no tileset')
    return value
  }
  const list = `/collections/${id}/tiles`
  await suite.test(`${CONF}/geodata-tilesets/collection-tiles`, list, async () => {
    const collection = await read<Described>(api, `/collections/${id}`)
    const link = collection.links.find(({ rel }) => rel === `${REL}/tilesets-vector`)
    if (!link) throw new Skipped('the collection has no tileset')
    const { tilesets } = await read<{ tilesets: Described[] }>(api, link.href)
    const [first] = tilesets
    assert.ok(first, 'the list has a tileset')
    assert.equal(first.dataType, 'vector')
    assert.ok(first.crs, 'crs')
    tileset = await readWhenReady(api, hrefOf(first, 'self'))
    set = await read<TileMatrixSet>(api, hrefOf(first, `${REL}/tiling-scheme`))
  })
  await suite.test(`${CONF}/tileset/success`, `${list}/WebMercatorQuad`, async () => {
    const described = required<Described>(tileset)
    assert.equal(described.dataType, 'vector')
    assert.deepEqual(described.crs, required<TileMatrixSet>(set).crs)
    assert.ok(described.tileMatrixSetURI)
    const template = described.links.find(({ rel, templated }) => rel === 'item' && templated === true)
    for (const variable of ['{tileMatrix}', '{tileRow}', '{tileCol}'])
      assert.ok(template?.href.includes(variable))
  })
  await suite.test(`${CONF}/core/tc-success`, `${list}/WebMercatorQuad`, async () => {
    const described = required<Described>(tileset)
    for (const limits of described.tileMatrixSetLimits ?? []) {
      const row = Math.floor((limits.minTileRow + limits.maxTileRow) / 2)
      const col = Math.floor((limits.minTileCol + limits.maxTileCol) / 2)
      const response = await getTile(api, described, limits.tileMatrix, row, col)
      assert.ok(
        [200, 204].includes(response.status),
        `${limits.tileMatrix}/${row}/${col}: ${response.status}`,
      )
      if (response.status === 200) assert.equal(response.headers.get('content-type'), MVT)
    }
    const root = await getTile(api, described, '0', 0, 0)
    assert.equal(root.status, 200, 'a collection with features has a tile at the lowest zoom')
  })
  await suite.test(`${CONF}/core/tc-error`, `${list}/WebMercatorQuad`, async () => {
    const described = required<Described>(tileset)
    const [matrix] = required<TileMatrixSet>(set).tileMatrices
    for (const [tileMatrix, row, col] of [
      [matrix!.id, matrix!.matrixHeight, 0],
      [matrix!.id, 0, matrix!.matrixWidth],
      ['no-such-matrix', 0, 0],
    ] as const) {
      const { status } = await getTile(api, described, tileMatrix, row, col)
      assert.ok(status === 404 || status === 400, `${tileMatrix}/${row}/${col}: ${status}`)
    }
  })
  await suite.test(`${CONF}/tilejson/tilejson`, `${list}/WebMercatorQuad`, async () => {
    const described = required<Described>(tileset)
    const link = described.links.find(({ type }) => type === 'application/vnd.mapbox.tile+json')
    assert.ok(link, 'a link to TileJSON')
    const tilejson = await read<Record<string, unknown>>(api, link.href, 'application/vnd.mapbox.tile+json')
    assert.match(String(tilejson.tilejson), /^3\./)
    assert.ok(Array.isArray(tilejson.vector_layers) && tilejson.vector_layers.length > 0)
    const [template] = tilejson.tiles as string[]
    const url = template!.replace('{z}', '0').replace('{y}', '0').replace('{x}', '0')
    assert.equal((await api.get(url, '*/*')).status, 200)
  })
}

function hrefOf({ links }: Described, relation: string): string {
  const link = links.find(({ rel }) => rel === relation)
  assert.ok(link, `a link with the relation ${relation}`)
  return link.href
}

function getTile(
  api: Api,
  described: Described,
  tileMatrix: string,
  row: number,
  col: number,
): Promise<Answer> {
  const url = hrefOf(described, 'item')
    .replace('{tileMatrix}', tileMatrix)
    .replace('{tileRow}', String(row))
    .replace('{tileCol}', String(col))
  return api.get(url, MVT)
}

/** A service may build tiles after publishing, and respond 503 meanwhile. */
async function readWhenReady(api: Api, url: string): Promise<Described> {
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(250)) {
    const response = await api.get(url)
    if (response.status !== 503 || Date.now() > until) {
      assert.equal(response.status, 200, url)
      return response.body as Described
    }
  }
}
