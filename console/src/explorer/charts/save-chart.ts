import { saveFile } from '../../datasets/downloads/save-file.ts'

const XML = 'http://www.w3.org/2000/svg'
const FONT = 'system-ui, sans-serif'
const [PADDING, GAP, LEGEND] = [16, 10, 22]
const LINE_HEIGHT = 1.35

interface TextStyle {
  size: number
  weight: number
  opacity: number
}

const TITLE: TextStyle = { size: 15, weight: 600, opacity: 1 }
const SUBTITLE: TextStyle = { size: 12, weight: 400, opacity: 0.7 }
const NOTE: TextStyle = { size: 13, weight: 400, opacity: 1 }
const CREDIT: TextStyle = { size: 11, weight: 400, opacity: 0.7 }

/** Pixels of the picture for each unit of the drawing. */
const DENSITY = 2

export interface Picture {
  svg: SVGSVGElement
  title: string
  /** What is drawn, if the title does not say it. */
  subtitle: string
  /** What the author says about it. */
  note: string
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

/** The drawing as a file of its own: with its texts, legend, source and background, and without style sheets. */
function svgText({ svg, title, subtitle, note, legend, credit }: Picture) {
  const { color: soft } = getComputedStyle(svg)
  const { backgroundColor: background, color } = getComputedStyle(svg.closest('.card') ?? document.body)
  const [inner, tall] = [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]
  const root = element('svg', { fill: color, color, 'font-family': FONT })
  let top = addLines(root, subtitle, SUBTITLE, addLines(root, title, TITLE, PADDING, inner), inner) + GAP
  for (const line of legendLines(legend, inner)) {
    for (const { x, text, color } of line) {
      root.append(element('rect', { x: PADDING + x, y: top, width: 11, height: 11, rx: 2, fill: color }))
      root.append(label(text, { x: PADDING + x + 16, y: top + 10, 'font-size': 12 }))
    }
    top += LEGEND
  }
  const drawing = svg.cloneNode(true) as SVGSVGElement
  drawing.removeAttribute('style')
  const place = { x: PADDING, y: top, color: soft, fill: soft, overflow: 'visible', 'font-size': 12 }
  for (const [name, value] of Object.entries(place)) drawing.setAttribute(name, String(value))
  root.append(drawing)
  top = addLines(root, note, NOTE, top + tall + (note ? GAP : 0), inner)
  top = addLines(root, credit, CREDIT, top + (credit ? GAP : 0), inner)
  const [width, height] = [inner + 2 * PADDING, Math.ceil(top) + PADDING]
  root.prepend(element('rect', { width, height, fill: background }))
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    root.setAttribute(name, String(value))
  return { text: new XMLSerializer().serializeToString(root), width, height }
}

/** Adds a text below `top`, in as many lines as it needs, and returns where it ends. */
function addLines(root: SVGElement, text: string, style: TextStyle, top: number, width: number): number {
  const { size, weight, opacity } = style
  for (const line of brokenLines(text, style, width)) {
    const look = { 'font-size': size, 'font-weight': weight, opacity }
    root.append(label(line, { x: PADDING, y: top + size, ...look }))
    top += size * LINE_HEIGHT
  }
  return top
}

function brokenLines(text: string, { size, weight }: TextStyle, width: number): string[] {
  const pen = document.createElement('canvas').getContext('2d')!
  pen.font = `${weight} ${size}px ${FONT}`
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : ''
    if (longer !== '' && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
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
