import { ownProperties } from '@wayleave/geodata/tiles'
import { escapeHtml } from '../../http/pages/html.ts'
import { boundsOf, type Tileset, tileTemplate } from './tileset-documents.ts'

const BACKGROUND = '#f6f7f4'
const FILL = '#3b82a0'
const LINE = '#1f5e7a'
const POINT = '#c2410c'
const HALO = '#ffffff'

/**
 * A complete MapLibre style of a tileset. It has neither glyphs nor sprites, which would come from elsewhere:
 * MapLibre draws the counts with a font of the device. For `keyQuery` see `tileJsonDocument`.
 */
export function tileStyle({ dataset, version, maxZoom, build }: Tileset, base: string, keyQuery: string) {
  const { table } = dataset
  const { pointCount } = ownProperties(version.manifest.columns)
  const layer = { source: table, 'source-layer': table }
  const count = ['get', pointCount]
  // 0 marks a part of a multipoint that is counted in another tile: it is drawn like a feature.
  const isCluster = ['>', ['coalesce', count, 0], 0]
  const isType = (type: string) => ['==', ['geometry-type'], type]
  return {
    version: 8,
    name: dataset.title,
    metadata: { 'wayleave:table': table, 'wayleave:version': version.version },
    sources: {
      [table]: {
        type: 'vector',
        tiles: [tileTemplate({ table, version: version.version, build }, base, '{z}/{y}/{x}') + keyQuery],
        minzoom: 0,
        maxzoom: maxZoom,
        bounds: boundsOf(version),
        // Maps show it as HTML.
        attribution: escapeHtml(dataset.attribution),
      },
    },
    layers: [
      { id: 'background', type: 'background', paint: { 'background-color': BACKGROUND } },
      {
        id: `${table}-polygons`,
        type: 'fill',
        ...layer,
        filter: isType('Polygon'),
        paint: { 'fill-color': FILL, 'fill-opacity': 0.35 },
      },
      {
        id: `${table}-outlines`,
        type: 'line',
        ...layer,
        filter: isType('Polygon'),
        paint: { 'line-color': LINE, 'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.4, 10, 1.5] },
      },
      {
        id: `${table}-lines`,
        type: 'line',
        ...layer,
        filter: isType('LineString'),
        layout: { 'line-cap': 'round', 'line-join': 'round' },
        paint: { 'line-color': LINE, 'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.8, 14, 3] },
      },
      {
        id: `${table}-clusters`,
        type: 'circle',
        ...layer,
        filter: ['all', isType('Point'), isCluster],
        layout: { 'circle-sort-key': count },
        paint: {
          'circle-color': POINT,
          'circle-opacity': ['interpolate', ['linear'], ['ln', count], 0, 0.45, 8, 0.85],
          'circle-radius': ['interpolate', ['linear'], ['ln', count], 0, 1.6, 3, 2.6, 6, 5, 9, 11],
        },
      },
      {
        id: `${table}-points`,
        type: 'circle',
        ...layer,
        filter: ['all', isType('Point'), ['!', isCluster]],
        paint: {
          'circle-color': POINT,
          'circle-radius': ['interpolate', ['linear'], ['zoom'], 0, 1.4, 8, 3, 14, 5],
          'circle-stroke-color': HALO,
          'circle-stroke-width': ['interpolate', ['linear'], ['zoom'], 0, 0, 8, 0.8],
        },
      },
      {
        id: `${table}-counts`,
        type: 'symbol',
        ...layer,
        filter: ['all', isType('Point'), isCluster, ['>=', count, 100]],
        layout: {
          'text-field': ['number-format', count, { 'max-fraction-digits': 0 }],
          'text-font': ['sans-serif'],
          'text-size': 11,
          'symbol-sort-key': ['-', 0, count],
        },
        paint: { 'text-color': '#431407', 'text-halo-color': HALO, 'text-halo-width': 1.4 },
      },
    ],
  }
}
