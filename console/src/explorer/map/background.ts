import worldUrls from 'virtual:world/urls'
import type { Palette } from '@wayleave/contract/map-style'
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'

/** What lies below and above the data on a map. */
export interface Background {
  sources: StyleSpecification['sources']
  layers: LayerSpecification[]
  /** Names are above the data, because areas would cover them. */
  names: LayerSpecification[]
  glyphs?: string
  sprite?: StyleSpecification['sprite']
  /** A font that the background's glyphs have. */
  font: string[]
}

/** Which names of places the map has needed so far. */
export type NamesDepth = 'countries' | 'cities' | 'towns'

type Expression = never

const FINE_FROM_ZOOM = 3
const CITIES_FROM_ZOOM = 3.5
const TOWNS_FROM_ZOOM = 7
/** Browsers draw the glyphs themselves, so no font server is needed. */
const FONT = ['sans-serif']

export function depthAt(zoom: number): NamesDepth {
  return zoom >= TOWNS_FROM_ZOOM ? 'towns' : zoom >= CITIES_FROM_ZOOM ? 'cities' : 'countries'
}

/** What is shown while the operator's basemap loads: our own background would be loaded in vain. */
export function plainBackground({ sea }: Palette): Background {
  return { sources: {}, layers: [seaLayer(sea)], names: [], font: FONT }
}

/** The service's own background: land, borders and names, without a map server. */
export function ownBackground(palette: Palette, depth: NamesDepth): Background {
  const hasCities = depth !== 'countries'
  const hasTowns = depth === 'towns'
  return {
    sources: {
      coarse: world(worldUrls.coarse),
      fine: world(worldUrls.fine),
      names: world(worldUrls.names),
      ...(hasCities && { cities: world(worldUrls.cities) }),
      ...(hasTowns && { towns: world(worldUrls.towns) }),
    },
    layers: landLayers(palette),
    names: [
      ...(hasTowns ? [placeLayer('towns', TOWNS_FROM_ZOOM, palette)] : []),
      ...(hasCities ? [placeLayer('cities', CITIES_FROM_ZOOM, palette)] : []),
      countryLayer(palette),
    ],
    font: FONT,
  }
}

/** Each source names its origin: a map shows the attributions of the sources that it draws at its zoom. */
function world(data: string) {
  return { type: 'geojson', data, attribution: 'Background: Natural Earth, GeoNames' } as const
}

function landLayers({ sea, land, coast, border }: Palette): LayerSpecification[] {
  const kind = (name: string) => ['==', ['get', 'kind'], name] as Expression
  const layersOf = (source: 'coarse' | 'fine'): LayerSpecification[] => {
    const zooms = source === 'coarse' ? { maxzoom: FINE_FROM_ZOOM } : { minzoom: FINE_FROM_ZOOM }
    const line = (id: string, name: string, color: string): LayerSpecification => ({
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
  return [seaLayer(sea), ...layersOf('coarse'), ...layersOf('fine')]
}

function seaLayer(color: string): LayerSpecification {
  return { id: 'sea', type: 'background', paint: { 'background-color': color } }
}

/** Larger places are shown first and in larger letters. */
function placeLayer(
  source: 'cities' | 'towns',
  minzoom: number,
  { label, halo }: Palette,
): LayerSpecification {
  return {
    id: `${source}-names`,
    type: 'symbol',
    source,
    minzoom,
    filter: [
      '<=',
      ['get', 'rank'],
      ['step', ['zoom'], 1, 4, 2, 5, 3, 6, 4, 7.5, 5, 8.5, 6, 9.5, 7],
    ] as Expression,
    layout: {
      'text-field': ['get', 'name'],
      'text-font': FONT,
      'text-size': ['interpolate', ['linear'], ['get', 'rank'], 1, 13, 4, 11.5, 7, 10.5] as Expression,
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

function countryLayer({ label, halo }: Palette): LayerSpecification {
  return {
    id: 'country-names',
    type: 'symbol',
    source: 'names',
    minzoom: 0.6,
    maxzoom: 8,
    filter: ['<=', ['get', 'rank'], ['step', ['zoom'], 1, 2, 2, 3, 3, 4, 4, 5, 9]] as Expression,
    layout: {
      'text-field': ['get', 'name'],
      'text-font': FONT,
      'text-size': ['interpolate', ['linear'], ['zoom'], 2, 10.5, 6, 14],
      'text-max-width': 7,
      'text-padding': 6,
      'symbol-sort-key': ['get', 'rank'],
      'text-letter-spacing': 0.04,
    },
    paint: { 'text-color': label, 'text-halo-color': halo, 'text-halo-width': 1.3 },
  }
}
