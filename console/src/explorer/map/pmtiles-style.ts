import { DEVICE_FONT, type Palette } from '@wayleave/contract/map-style'
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'

const SOURCE = 'tiles'
/** `TileType` of the PMTiles specification: 1 is MVT, the others are images. */
const VECTOR = 1

/** MapLibre's function: the map's library is not loaded here. */
export type AddProtocol = typeof import('maplibre-gl').addProtocol

/**
 * A quiet style for a PMTiles file. An archive has no style of its own, so vector layers are drawn by their names, as
 * the schemas of Protomaps and OpenMapTiles have them; layers of other names are drawn as thin lines.
 */
export async function pmtilesStyle(
  address: string,
  palette: Palette,
  addProtocol: AddProtocol,
): Promise<StyleSpecification> {
  const { PMTiles, Protocol } = await import('pmtiles')
  const archive = new PMTiles(address)
  const protocol = new Protocol()
  protocol.add(archive)
  addProtocol('pmtiles', protocol.tile)
  const { tileType, maxZoom, minZoom } = await archive.getHeader()
  const { vector_layers: archiveLayers = [], attribution } = (await archive.getMetadata()) as ArchiveMetadata
  const url = `pmtiles://${address}`
  const background: LayerSpecification = {
    id: 'background',
    type: 'background',
    paint: { 'background-color': palette.sea },
  }
  if (tileType !== VECTOR) {
    return {
      version: 8,
      sources: {
        [SOURCE]: {
          type: 'raster',
          tiles: [`${url}/{z}/{x}/{y}`],
          tileSize: 256,
          minzoom: minZoom,
          maxzoom: maxZoom,
          ...(attribution && { attribution }),
        },
      },
      layers: [background, { id: 'images', type: 'raster', source: SOURCE }],
    }
  }
  return {
    version: 8,
    sources: { [SOURCE]: { type: 'vector', url, ...(attribution && { attribution }) } },
    layers: [
      background,
      ...vectorLayers(
        archiveLayers.map(({ id }) => id),
        palette,
      ),
    ],
  }
}

interface ArchiveMetadata {
  vector_layers?: { id: string }[]
  attribution?: string
}

type Look = 'land' | 'water' | 'green' | 'built' | 'road' | 'border' | 'place'

/** How a layer looks, by its name. */
const LOOKS: [names: RegExp, look: Look | 'none'][] = [
  [/^(earth|land)$/, 'land'],
  [/^(water|ocean|sea|lakes?)$/, 'water'],
  [/^(landuse|landcover|park|natural)$/, 'green'],
  [/^(buildings?|aeroway)$/, 'built'],
  [/^(roads?|transportation|transit|streets?|waterway|physical_line)$/, 'road'],
  [/^(boundar(y|ies)|admin|borders?)$/, 'border'],
  [/^(places?|place_label|cities|towns)$/, 'place'],
  [/^(pois?|housenumber|transportation_name|water_name|mountain_peak|aerodrome_label)$/, 'none'],
]
const ORDER: Look[] = ['land', 'green', 'water', 'built', 'road', 'border', 'place']

export function vectorLayers(names: readonly string[], palette: Palette): LayerSpecification[] {
  const looks = names.map((name) => {
    const [, look = 'border'] = LOOKS.find(([pattern]) => pattern.test(name)) ?? []
    return { name, look }
  })
  return ORDER.flatMap((look) =>
    looks.filter((one) => one.look === look).map(({ name }) => layerOf(name, look, palette)),
  )
}

function layerOf(name: string, look: Look, palette: Palette): LayerSpecification {
  const from = { id: name, source: SOURCE, 'source-layer': name }
  const fill = (color: string, opacity = 1): LayerSpecification => ({
    ...from,
    type: 'fill',
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': color, 'fill-opacity': opacity },
  })
  const line = (color: string, width: number): LayerSpecification => ({
    ...from,
    type: 'line',
    paint: { 'line-color': color, 'line-width': width },
  })
  switch (look) {
    case 'land':
      return fill(palette.land)
    case 'water':
      return fill(palette.sea)
    case 'green':
      return fill(palette.data, 0.06)
    case 'built':
      return fill(palette.coast, 0.4)
    case 'road':
      return line(palette.coast, 0.8)
    case 'place':
      return {
        ...from,
        type: 'symbol',
        layout: {
          'text-field': ['coalesce', ['get', 'name'], ['get', 'name:latin'], ''],
          'text-font': DEVICE_FONT,
          'text-size': 11.5,
          'text-padding': 8,
        },
        paint: { 'text-color': palette.label, 'text-halo-color': palette.halo, 'text-halo-width': 1.2 },
      }
    case 'border':
      return line(palette.border, 1)
  }
}
