import type { StyleLayer } from './data-layers.ts'
import { PALETTES, type Palette, type Theme } from './ramps.ts'

/** The files of the service's own background of maps: land and borders, names of countries and of places. */
export const WORLD_FILES = ['coarse', 'fine', 'names', 'cities', 'towns'] as const
export type WorldFile = (typeof WORLD_FILES)[number]

/** Which names of places a map has. */
export type NamesDepth = 'countries' | 'cities' | 'towns'

const CITIES_FROM_ZOOM = 3.5
const TOWNS_FROM_ZOOM = 7
/**
 * Browsers draw the glyphs themselves, so no font server is needed: in the service's typeface on its own pages, which
 * have it, and in one of the device on others.
 */
export const DEVICE_FONT = ['Instrument Sans', 'sans-serif']

export function depthAt(zoom: number): NamesDepth {
  return zoom >= TOWNS_FROM_ZOOM ? 'towns' : zoom >= CITIES_FROM_ZOOM ? 'cities' : 'countries'
}

/** The background of a map: land and borders below the data, names above it, because areas would cover them. */
export function worldBackground(theme: Theme, depth: NamesDepth, urlOf: (file: WorldFile) => string) {
  const palette = PALETTES[theme]
  const hasCities = depth !== 'countries'
  const hasTowns = depth === 'towns'
  // Fine coasts are a third of a megabyte, which a map of the whole world does not need.
  const needed: Record<WorldFile, boolean> = {
    coarse: true,
    fine: hasCities,
    names: true,
    cities: hasCities,
    towns: hasTowns,
  }
  const files = WORLD_FILES.filter((file) => needed[file])
  return {
    sources: Object.fromEntries(files.map((file) => [file, worldSource(urlOf(file))])),
    layers: landLayers(palette, hasCities),
    names: [
      ...(hasTowns ? [placeLayer('towns', TOWNS_FROM_ZOOM, palette)] : []),
      ...(hasCities ? [placeLayer('cities', CITIES_FROM_ZOOM, palette)] : []),
      countryLayer(palette),
    ],
  }
}

/** Each source names its origin: a map shows the attributions of the sources that it draws at its zoom. */
function worldSource(data: string) {
  return { type: 'geojson', data, attribution: 'Background: Natural Earth, GeoNames' } as const
}

function landLayers({ sea, land, coast, border }: Palette, hasFine: boolean): StyleLayer[] {
  const kind = (name: string) => ['==', ['get', 'kind'], name]
  const layersOf = (source: 'coarse' | 'fine'): StyleLayer[] => {
    const zooms = hasFine ? { [source === 'coarse' ? 'maxzoom' : 'minzoom']: CITIES_FROM_ZOOM } : {}
    const line = (id: string, name: string, color: string): StyleLayer => ({
      id: `${id}-${source}`,
      type: 'line',
      source,
      filter: kind(name),
      ...zooms,
      paint: { 'line-color': color, 'line-width': 0.8 },
    })
    return [
      {
        id: `land-${source}`,
        type: 'fill',
        source,
        filter: kind('land'),
        ...zooms,
        paint: { 'fill-color': land },
      },
      line('coast', 'land', coast),
      line('borders', 'borders', border),
    ]
  }
  return [seaLayer(sea), ...layersOf('coarse'), ...(hasFine ? layersOf('fine') : [])]
}

export function seaLayer(color: string): StyleLayer {
  return { id: 'sea', type: 'background', paint: { 'background-color': color } }
}

/** Larger places are shown first and in larger letters. */
function placeLayer(source: 'cities' | 'towns', minzoom: number, { label, halo }: Palette): StyleLayer {
  return {
    id: `${source}-names`,
    type: 'symbol',
    source,
    minzoom,
    filter: ['<=', ['get', 'rank'], ['step', ['zoom'], 1, 4, 2, 5, 3, 6, 4, 7.5, 5, 8.5, 6, 9.5, 7]],
    layout: {
      'text-field': ['get', 'name'],
      'text-font': DEVICE_FONT,
      'text-size': ['interpolate', ['linear'], ['get', 'rank'], 1, 13, 4, 11.5, 7, 10.5],
      // Above the place, so that a point of the data there does not stand in its name.
      'text-anchor': 'bottom',
      'text-offset': [0, -0.4],
      'text-max-width': 8,
      'text-padding': 8,
      'symbol-sort-key': ['get', 'rank'],
    },
    paint: { 'text-color': label, 'text-halo-color': halo, 'text-halo-width': 1.6 },
  }
}

function countryLayer({ label, halo }: Palette): StyleLayer {
  return {
    id: 'country-names',
    type: 'symbol',
    source: 'names',
    minzoom: 0.6,
    maxzoom: 8,
    filter: ['<=', ['get', 'rank'], ['step', ['zoom'], 1, 2, 2, 3, 3, 4, 4, 5, 9]],
    layout: {
      'text-field': ['get', 'name'],
      'text-font': DEVICE_FONT,
      'text-size': ['interpolate', ['linear'], ['zoom'], 2, 10.5, 6, 14],
      'text-max-width': 7,
      'text-padding': 6,
      'symbol-sort-key': ['get', 'rank'],
      'text-letter-spacing': 0.04,
    },
    paint: { 'text-color': label, 'text-halo-color': halo, 'text-halo-width': 1.3 },
  }
}
