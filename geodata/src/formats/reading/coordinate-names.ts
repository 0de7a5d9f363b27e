/** The names under which tables usually keep coordinates, as `comparableName` spells them. */

/** Letters that `normalize` does not split into a base letter and a mark. */
const LETTERS: { [letter: string]: string } = { æ: 'ae', ø: 'o', ß: 'ss', ł: 'l', đ: 'd', ı: 'i' }

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
  ...['ilguma', 'pikkuskraad', 'zemepisnadelka', 'zemljepisnadolzina', 'geografskaduzina'],
  ...['долгота', 'довгота', 'γεωγραφικομηκος', '经度', '經度', '経度', '경도'],
  ...['خط الطول', 'طول جغرافیایی', 'קו אורך', 'देशांतर', 'ลองจิจูด'].map(comparableName),
]
const LATITUDE_WORDS = [
  ...['latitude', 'lat', 'latitud', 'latitudine', 'breedtegraad', 'breitengrad'],
  ...['geogrbreite', 'geografischebreite', 'breddegrad', 'breddgrad', 'leveysaste'],
  ...['szerokosc', 'szerokoscgeograficzna', 'zemepisnasirka', 'szelesseg', 'enlem', 'lintang', 'vido'],
  ...['platuma', 'laiuskraad', 'zemljepisnasirina', 'geografskasirina'],
  ...['широта', 'γεωγραφικοπλατος', '纬度', '緯度', '위도'],
  ...['خط العرض', 'عرض جغرافیایی', 'קו רוחב', 'अक्षांश', 'ละติจูด'].map(comparableName),
]
/**
 * Words that also mean length and width, such as the German Länge and Breite: alone they need values that look
 * like degrees.
 */
const LENGTH_WORDS = ['lange', 'laenge', 'lengte', 'laengde', 'lengde', 'langd', 'delka', 'dlzka', 'duzina', 'dolzina', 'pituus', 'garums'] // biome-ignore format: one list
const WIDTH_WORDS = ['breite', 'breedte', 'bredde', 'bredd', 'sirka', 'sirina', 'leveys', 'platums']
/** What may precede or follow the word without changing its meaning: `stop_lat`, `Latitude (deg)`, `lon_wgs84`. */
const PREFIX =
  /^(geographische|geografische|geografska|zemepisna|zemljepisna|geogr|geo|gps|coordenada|coordonnees?|coordinata|coord|wgs84|decimal|dec|stop|site|station|loc|location|point|pos|position|center|centroid|intpt)+/
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
  return indexOfWord(comparable, LONGITUDE_WORDS, LENGTH_WORDS)
}

export function latitudeIndex(comparable: string[]): number {
  return indexOfWord(comparable, LATITUDE_WORDS, WIDTH_WORDS)
}

/** The columns that may be longitude and latitude, or length and width; null if there are none. */
export function sizeNamedPair(comparable: string[]): [x: number, y: number] | null {
  const [x, y] = [LENGTH_WORDS, WIDTH_WORDS].map((words) =>
    comparable.findIndex((name) => words.includes(name)),
  )
  return x! < 0 || y! < 0 ? null : [x!, y!]
}

function indexOfWord(comparable: string[], words: string[], sizeWords: string[]): number {
  for (const word of words) {
    const exact = comparable.indexOf(word)
    if (exact >= 0) return exact
  }
  const similar = [...comparable.keys()].filter((i) => isVariant(comparable[i]!, words, sizeWords))
  return similar.length === 1 ? similar[0]! : -1
}

function isVariant(name: string, words: string[], sizeWords: string[]): boolean {
  const core = name.replace(SUFFIX, '')
  return [core, name.replace(PREFIX, ''), core.replace(PREFIX, '')].some(
    (each) => words.includes(each) || (each !== name && sizeWords.includes(each)),
  )
}
