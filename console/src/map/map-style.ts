import type { StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../theme.ts'

const colors = {
  light: {
    sea: '#dbe7ee',
    land: '#f7f8f5',
    coast: '#b9c9c4',
    border: '#d3dad6',
    data: '#0b6e5b',
    chosen: '#d4480b',
  },
  dark: {
    sea: '#0d1417',
    land: '#1d2624',
    coast: '#3a4945',
    border: '#2d3936',
    data: '#5cc8b0',
    chosen: '#ffb066',
  },
}

const empty = { type: 'FeatureCollection', features: [] } as const

/** Our own land and borders below, the dataset's features above. Nothing is loaded from another host. */
export function mapStyle(theme: Theme): StyleSpecification {
  const { sea, land, coast, border, data, chosen } = colors[theme]
  const color = ['case', ['boolean', ['feature-state', 'chosen'], false], chosen, data] as never
  const source = (attribution?: string) => ({
    type: 'geojson' as const,
    data: empty as never,
    ...(attribution && { attribution }),
  })
  return {
    version: 8,
    sources: {
      land: source('Land: Natural Earth'),
      borders: source(),
      features: { ...source(), tolerance: 0.3 },
    },
    layers: [
      { id: 'sea', type: 'background', paint: { 'background-color': sea } },
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': land } },
      { id: 'coast', type: 'line', source: 'land', paint: { 'line-color': coast, 'line-width': 0.8 } },
      { id: 'borders', type: 'line', source: 'borders', paint: { 'line-color': border, 'line-width': 0.8 } },
      {
        id: 'areas',
        type: 'fill',
        source: 'features',
        filter: ['==', ['geometry-type'], 'Polygon'],
        paint: { 'fill-color': color, 'fill-opacity': 0.22 },
      },
      {
        id: 'lines',
        type: 'line',
        source: 'features',
        filter: ['!=', ['geometry-type'], 'Point'],
        paint: { 'line-color': color, 'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.6, 5, 1.3] },
      },
      {
        id: 'points',
        type: 'circle',
        source: 'features',
        filter: ['==', ['geometry-type'], 'Point'],
        paint: {
          'circle-color': color,
          'circle-opacity': 0.75,
          'circle-radius': ['interpolate', ['linear'], ['zoom'], 0, 2.7, 6, 4.5, 12, 6.5],
          'circle-stroke-width': 0.6,
          'circle-stroke-color': land,
        },
      },
    ],
  }
}

export const FEATURE_LAYERS = ['points', 'lines', 'areas']
