/** A small dataset to publish: squares in a row, with attributes of several types. */
export function parcelsGeojson(count: number): string {
  const features = Array.from({ length: count }, (_, index) => {
    const west = 5 + (index % 10) * 0.1
    const south = 52 + Math.floor(index / 10) * 0.1
    const [east, north] = [west + 0.09, south + 0.09]
    return {
      type: 'Feature',
      properties: { owner: `Owner ${index}`, area: index * 10.5, built: index % 2 === 0 },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [west, south],
            [east, south],
            [east, north],
            [west, north],
            [west, south],
          ],
        ],
      },
    }
  })
  return JSON.stringify({ type: 'FeatureCollection', features })
}
