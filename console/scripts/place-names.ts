import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

/** Places of these ranks are shown from small zooms on and are in a file of their own. */
const CITY_RANKS = 4

interface PlaceNames {
  cities: object
  towns: object
}

/** The names of places as two collections of points: cities for all zooms, towns for deep ones. */
export function placeNames(): PlaceNames {
  const packed = readFileSync(new URL('../data/place-names.tsv.br', import.meta.url))
  const features = brotliDecompressSync(packed)
    .toString()
    .split('\n')
    .map((line) => {
      const [rank, longitude, latitude, name] = line.split('\t')
      return {
        type: 'Feature',
        properties: { name, rank: Number(rank) },
        geometry: { type: 'Point', coordinates: [Number(longitude), Number(latitude)] },
      }
    })
  const collection = (isWanted: (rank: number) => boolean) => ({
    type: 'FeatureCollection',
    features: features.filter(({ properties: { rank } }) => isWanted(rank)),
  })
  return {
    cities: collection((rank) => rank <= CITY_RANKS),
    towns: collection((rank) => rank > CITY_RANKS),
  }
}
