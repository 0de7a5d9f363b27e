import { saveFile } from '../../datasets/downloads/save-file.ts'

const XML = 'http://www.w3.org/2000/svg'
const [PADDING, HEAD, LEGEND] = [16, 30, 22]
/** Pixels of the picture for each unit of the drawing. */
const DENSITY = 2

export interface Picture {
  svg: SVGSVGElement
  title: string
  legend: { text: string; color: string }[]
  /** The source and the license, below the drawing. */
  credit: string
}

export function saveSvg(picture: Picture, name: string): void {
  saveFile(new Blob([svgText(picture).text], { type: 'image/svg+xml' }), `${name}.svg`)
}

export async function savePng(picture: Picture, name: string): Promise<void> {
  const { text, width, height } = svgText(picture)
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  try {
    const image = new Image(width * DENSITY, height * DENSITY)
    image.src = url
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = width * DENSITY
    canvas.height = height * DENSITY
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height)
    const file = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    saveFile(file!, `${name}.png`)
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** The drawing as a file of its own: with its title, legend, source and background, and without style sheets. */
function svgText({ svg, title, legend, credit }: Picture): { text: string; width: number; height: number } {
  const { color: soft } = getComputedStyle(svg)
  const { backgroundColor: background, color } = getComputedStyle(svg.closest('.card') ?? document.body)
  const [inner, tall] = [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]
  const lines = legendLines(legend, inner)
  const top = PADDING + HEAD + lines.length * LEGEND
  const [width, height] = [inner + 2 * PADDING, top + tall + PADDING + (credit ? LEGEND : 0)]
  const root = element('svg', {
    xmlns: XML,
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    fill: color,
    color,
  })
  root.setAttribute('font-family', 'system-ui, sans-serif')
  root.append(
    element('rect', { width, height, fill: background }),
    label(title, { x: PADDING, y: PADDING + 14, 'font-size': 15, 'font-weight': 600 }),
  )
  for (const [index, line] of lines.entries()) {
    const y = PADDING + HEAD + index * LEGEND
    for (const { x, text, color } of line) {
      root.append(element('rect', { x: PADDING + x, y, width: 11, height: 11, rx: 2, fill: color }))
      root.append(label(text, { x: PADDING + x + 16, y: y + 10, 'font-size': 12 }))
    }
  }
  const drawing = svg.cloneNode(true) as SVGSVGElement
  drawing.removeAttribute('style')
  for (const [name, value] of Object.entries({
    x: PADDING,
    y: top,
    color: soft,
    fill: soft,
    overflow: 'visible',
    'font-size': 12,
  }))
    drawing.setAttribute(name, String(value))
  root.append(drawing)
  if (credit)
    root.append(label(credit, { x: PADDING, y: height - PADDING + 4, 'font-size': 11, opacity: 0.7 }))
  return { text: new XMLSerializer().serializeToString(root), width, height }
}

function legendLines(legend: Picture['legend'], width: number) {
  const lines: { x: number; text: string; color: string }[][] = []
  let x = Number.POSITIVE_INFINITY
  for (const { text, color } of legend) {
    const length = 34 + text.length * 6.8
    if (x + length > width) {
      lines.push([])
      x = 0
    }
    lines.at(-1)!.push({ x, text, color })
    x += length
  }
  return lines
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(XML, name)
  for (const [key, value] of Object.entries(attributes))
    if (key !== 'xmlns') made.setAttribute(key, String(value))
  return made
}

function label(text: string, attributes: Record<string, string | number>): SVGElement {
  const made = element('text', attributes)
  made.textContent = text
  return made
}
