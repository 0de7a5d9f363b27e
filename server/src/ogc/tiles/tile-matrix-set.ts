import { MAX_ZOOM } from '@wayleave/geodata/tiles'

/** The one tile matrix set, by OGC 17-083r4, annex D.1. */
export const WEB_MERCATOR_QUAD = 'WebMercatorQuad'
export const TILE_MATRIX_SET_URI = 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad'
export const TILE_CRS = 'http://www.opengis.net/def/crs/EPSG/0/3857'

const HALF_WORLD = 20_037_508.342789244
const TILE_PIXELS = 256
/** The size of a standardized pixel, in metres. */
const PIXEL_METRES = 0.00028

export function tileMatrixSet() {
  return {
    id: WEB_MERCATOR_QUAD,
    title: 'Google Maps Compatible for the World',
    uri: TILE_MATRIX_SET_URI,
    crs: TILE_CRS,
    orderedAxes: ['X', 'Y'],
    wellKnownScaleSet: 'http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible',
    tileMatrices: Array.from({ length: MAX_ZOOM + 1 }, (_, z) => {
      const cellSize = (2 * HALF_WORLD) / TILE_PIXELS / 2 ** z
      return {
        id: String(z),
        scaleDenominator: cellSize / PIXEL_METRES,
        cellSize,
        cornerOfOrigin: 'topLeft',
        pointOfOrigin: [-HALF_WORLD, HALF_WORLD],
        tileWidth: TILE_PIXELS,
        tileHeight: TILE_PIXELS,
        matrixWidth: 2 ** z,
        matrixHeight: 2 ** z,
      }
    }),
  }
}
