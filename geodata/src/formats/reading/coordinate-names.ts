/** The names under which tables usually keep coordinates, as `comparableName` spells them. */

const LONGITUDE_WORDS = [
  ...[
    'longitude',
    'lon',
    'lng',
    'long',
    'longitud',
    'longitudine',
    'lengtegraad',
    'laengengrad',
    'langengrad',
  ],
  ...['geogrlange', 'geografischelange', 'laengdegrad', 'langdgrad', 'lengdegrad', 'pituusaste'],
  ...[
    'dlugosc',
    'dlugoscgeograficzna',
    'zemepisnadelka',
    'zemepisnadlzka',
    'hosszusag',
    'boylam',
    'bujur',
    'kinhdo',
  ],
  ...['долгота', 'довгота', 'γεωγραφικομηκος', '经度', '經度', '経度', '경도'],
]
const LATITUDE_WORDS = [
  ...['latitude', 'lat', 'latitud', 'latitudine', 'breedtegraad', 'breitengrad'],
  ...['geogrbreite', 'geografischebreite', 'breddegrad', 'breddgrad', 'leveysaste'],
  ...['szerokosc', 'szerokoscgeograficzna', 'zemepisnasirka', 'szelesseg', 'enlem', 'lintang', 'vido'],
  ...['широта', 'γεωγραφικοπλατος', '纬度', '緯度', '위도'],
]
/** What may precede or follow the word without changing its meaning: `stop_lat`, `Latitude (deg)`, `lon_wgs84`. */
const PREFIX =
  /^(geo|gps|wgs84|decimal|dec|stop|site|station|loc|location|point|pos|position|center|centroid|intpt)/
const SUFFIX = /(deg|degree|degrees|degres|grad|dd|decimal|decimals|dec|wgs|wgs84|4326|epsg4326)$/

/** Names that do not imply degrees. `x` and `y` alone are too common for other quantities to be listed. */
export const PLANE_PAIRS: readonly [x: string, y: string][] = [
  ['pointx', 'pointy'],
  ['xcoord', 'ycoord'],
  ['coordx', 'coordy'],
  ['xcoordinate', 'ycoordinate'],
  ['easting', 'northing'],
]

export const GEOMETRY_NAMES: readonly string[] = [
  ...['wkt', 'geometry', 'geom', 'thegeom', 'wkbgeometry', 'wktgeometry', 'shape', 'geojson', 'ewkt'],
  ...['wktgeom', 'geomwkt', 'geometrywkt', 'geoshape', 'wkb', 'wkbgeom', 'geomwkb', 'georeference'],
]

/** Columns that hold both numbers in one text, and whether the latitude comes first. */
export const POINT_NAMES: ReadonlyMap<string, 'latitude-first' | 'longitude-first'> = new Map([
  ...[
    'geopoint2d',
    'geopoint',
    'latlon',
    'latlng',
    'latlong',
    'latitudelongitude',
    'gps',
    'gpscoordinates',
  ].map((name) => [name, 'latitude-first'] as const),
  ...['lonlat', 'lnglat', 'longlat', 'longitudelatitude'].map((name) => [name, 'longitude-first'] as const),
])

/** Letters that `normalize` does not split into a base letter and a mark. */
const LETTERS: { [letter: string]: string } = { æ: 'ae', ø: 'o', ß: 'ss', ł: 'l', đ: 'd', ı: 'i' }

/** Lower case letters and digits only, without accents: `Längengrad (°)` becomes `langengrad`. */
export function comparableName(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[æøßłđı]/g, (letter) => LETTERS[letter]!)
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** The index of the longitude column; -1 if there is none, or if several could be it. */
export function longitudeIndex(comparable: string[]): number {
  return indexOfWord(comparable, LONGITUDE_WORDS)
}

export function latitudeIndex(comparable: string[]): number {
  return indexOfWord(comparable, LATITUDE_WORDS)
}

function indexOfWord(comparable: string[], words: string[]): number {
  for (const word of words) {
    const exact = comparable.indexOf(word)
    if (exact >= 0) return exact
  }
  const similar = [...comparable.keys()].filter((i) => isVariant(comparable[i]!, words))
  return similar.length === 1 ? similar[0]! : -1
}

function isVariant(name: string, words: string[]): boolean {
  const core = name.replace(SUFFIX, '')
  return [core, name.replace(PREFIX, ''), core.replace(PREFIX, '')].some((each) => words.includes(each))
}
