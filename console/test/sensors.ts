/** A dataset of points to explore: its rows, to count by brute force, and its source. */
export interface Sensor {
  id: number
  name: string
  kind: string | null
  value: number | null
  measured: string
  longitude: number
  latitude: number
}

const KINDS = ['air', 'rain', 'wind', 'snow', "river's", null]

/** Seeded, so that every run has the same rows; most of them stand in a few dense towns. */
export function makeSensors(count: number): Sensor[] {
  let seed = 7
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
  const towns = Array.from({ length: 6 }, () => [random() * 20 - 5, random() * 15 + 42])
  return Array.from({ length: count }, (_, index) => {
    const town = towns[index % 9]
    const spread = () => (random() - 0.5) * (town ? 0.3 : 12)
    const [x, y] = town ?? [5, 50]
    return {
      id: index + 1,
      name: `Sensor ${index + 1}${index % 50 === 0 ? ' Zürich' : ''}`,
      kind: KINDS[Math.floor(random() ** 2 * KINDS.length)]!,
      value: random() < 0.1 ? null : Math.round(random() ** 2 * 10_000) / 100,
      measured: new Date(Date.UTC(2025, 0, 1) + Math.floor(random() * 365) * 86_400_000).toISOString(),
      longitude: Math.round((x! + spread()) * 1e5) / 1e5,
      latitude: Math.round((y! + spread()) * 1e5) / 1e5,
    }
  })
}

export function sensorsGeojson(sensors: readonly Sensor[]): string {
  const features = sensors.map(({ id, longitude, latitude, ...properties }) => ({
    type: 'Feature',
    id,
    properties,
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features })
}
