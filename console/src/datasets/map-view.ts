/** What a map shows, in degrees with y to the south, as the `viewBox` of an SVG has it. */
export interface View {
  x: number
  y: number
  width: number
  height: number
}

/** The picture is drawn from few points: nearer, it would look empty. */
const MAX_ZOOM = 12
const WORLD: View = { x: -180, y: -90, width: 360, height: 180 }

/** Moves a view by degrees. Its middle stays on the world. */
export function movedBy(view: View, dx: number, dy: number): View {
  const x = between(view.x + dx, WORLD.x - view.width / 2, WORLD.x + WORLD.width - view.width / 2)
  const y = between(view.y + dy, WORLD.y - view.height / 2, WORLD.y + WORLD.height - view.height / 2)
  return { ...view, x, y }
}

/** Makes a view smaller by a factor, or larger by one below 1, around a place that stays where it is. */
export function zoomedBy(view: View, factor: number, home: View, at = middleOf(view)): View {
  const largest = Math.max(home.width, WORLD.width)
  const width = between(view.width / factor, home.width / MAX_ZOOM, largest)
  const share = width / view.width
  const zoomed = {
    x: at.x - (at.x - view.x) * share,
    y: at.y - (at.y - view.y) * share,
    width,
    height: view.height * share,
  }
  return movedBy(zoomed, 0, 0)
}

/** The degrees that one pixel of a frame is wide: the whole view fits into it. */
export function degreesPerPixel(view: View, frame: { width: number; height: number }): number {
  return Math.max(view.width / frame.width, view.height / frame.height)
}

export function middleOf({ x, y, width, height }: View): { x: number; y: number } {
  return { x: x + width / 2, y: y + height / 2 }
}

function between(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
