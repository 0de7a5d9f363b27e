import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

/** The data belongs to the demo, which must not be a dependency here: its files are read by path. */
const DATA = join(import.meta.dirname, '..', '..', '..', 'demo', 'data')

function read(file: string): string {
  return brotliDecompressSync(readFileSync(join(DATA, `${file}.br`))).toString()
}

export interface City {
  name: string
  lat: string
  lng: string
  country: string
  admin1: string
  admin2: string
}

/** Every nth of 171,075 places of the world. */
export function realCities(step = 1): City[] {
  const [head = '', ...lines] = read('places.tsv').split('\n')
  const names = head.split('\t')
  return lines
    .filter((_, i) => i % step === 0)
    .map((line) => {
      const values = line.split('\t')
      return Object.fromEntries(names.map((name, i) => [name, values[i]])) as unknown as City
    })
}

/** A GeoJSON feature collection of 1,707 earthquakes. */
export function realEarthquakes<T>(): T {
  return JSON.parse(read('earthquakes.json'))
}

/** The first townships of China. Names in the file are quoted and have no quotation marks. */
export function realTownships(count: number): { code: string; name: string }[] {
  const lines = read('townships.csv')
    .split('\n', count + 1)
    .slice(1)
  return lines.map((line) => {
    const [code, name] = line.split(',') as [string, string]
    return { code, name: name.slice(1, -1) }
  })
}
