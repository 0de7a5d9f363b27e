/** Such as `5.9° to 10.5° east, 45.8° to 47.8° north`. */
export function extentText(box: readonly number[]): string {
  const { west, south, east, north } = sidesOf(box)
  const side = (value: number, [positive, negative]: [string, string]) =>
    `${Number(Math.abs(value).toFixed(4))}° ${value < 0 ? negative : positive}`
  const [longitude, latitude]: [string, string][] = [
    ['east', 'west'],
    ['north', 'south'],
  ]
  return `${side(west, longitude!)} to ${side(east, longitude!)}, ${side(south, latitude!)} to ${side(north, latitude!)}`
}

/** A box may have heights. */
export function sidesOf(box: readonly number[]) {
  const [west, south, east, north] = box.length === 6 ? [box[0], box[1], box[3], box[4]] : box
  return { west: west!, south: south!, east: east!, north: north! }
}
