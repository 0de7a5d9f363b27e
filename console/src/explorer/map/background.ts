import worldUrls from 'virtual:world/urls'
import {
  DEVICE_FONT,
  type NamesDepth,
  PALETTES,
  seaLayer,
  type Theme,
  worldBackground,
} from '@wayleave/contract/map-style'
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

/** What is shown while the operator's basemap loads: our own background would be loaded in vain. */
export function plainBackground(theme: Theme): Background {
  const layers = [seaLayer(PALETTES[theme].sea)] as unknown as LayerSpecification[]
  return { sources: {}, layers, names: [], font: DEVICE_FONT }
}

/** The service's own background: land, borders and names, without a map server. */
export function ownBackground(theme: Theme, depth: NamesDepth): Background {
  const { sources, layers, names } = worldBackground(theme, depth, (file) => worldUrls[file])
  return {
    sources,
    layers: [...(layers as unknown as LayerSpecification[]), squaresLayer(theme)],
    names: names as unknown as LayerSpecification[],
    font: DEVICE_FONT,
  }
}

/** The beginning of the names of the patterns of squared paper, which the map draws. */
export const SQUARES = 'squares-'

/** Where the background has no more detail, squared paper tells that the place is empty and the map is not broken. */
function squaresLayer(theme: Theme): LayerSpecification {
  return {
    id: 'squares',
    type: 'background',
    minzoom: 9,
    paint: {
      'background-pattern': SQUARES + theme,
      'background-opacity': ['interpolate', ['linear'], ['zoom'], 9, 0, 11, 0.7],
    },
  }
}
