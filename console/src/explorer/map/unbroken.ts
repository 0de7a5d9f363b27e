/** Beyond this latitude (degrees) a jump is a ring's own path around the pole, along the edge of the map. */
const POLAR = 84

/**
 * The longitudes of a line that crosses the antimeridian jump by 360 degrees, and a map would draw the jump
 * across the whole world. This unwraps the longitudes after a jump and then shifts the whole line back into
 * range.
 */
export function unbroken(line: number[][]): number[][] {
  const jumps = line.some(([x], index) => Math.abs(x! - (line[index - 1]?.[0] ?? x!)) > 180)
  if (!jumps || line.some(([, y]) => Math.abs(y!) > POLAR)) return line
  let shift = 0
  const counted = line.map(([x, y, ...rest], index) => {
    const step = x! - (line[index - 1]?.[0] ?? x!)
    if (step > 180) shift -= 360
    if (step < -180) shift += 360
    return [x! + shift, y!, ...rest]
  })
  const middle = counted.reduce((sum, [x]) => sum + x!, 0) / counted.length
  const home = middle > 180 ? -360 : middle < -180 ? 360 : 0
  return counted.map(([x, ...rest]) => [x! + home, ...rest])
}
