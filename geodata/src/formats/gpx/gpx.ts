import { SaxesParser } from 'saxes'
import type { Feature, FeatureStream, UnreadableRow } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { DEFAULT_LIMITS, megabytes, type SourceLimits } from '../reading/source-limits.ts'
import { openXmlFeatures, type XmlFeatureReader } from '../reading/xml-features.ts'
import { type GpxElement, GpxTable } from './gpx-table.ts'

/** The elements of each layer; without a choice, waypoints, routes and tracks are read together. */
const LAYERS: { [layer: string]: string[] } = {
  waypoints: ['wpt'],
  routes: ['rte'],
  tracks: ['trk'],
  route_points: ['rtept'],
  track_points: ['trkpt'],
}
const TOP_ELEMENTS = ['wpt', 'rte', 'trk']
/** The size that an empty element counts for, because it is an object in memory. */
const ELEMENT_CHARACTERS = 64

/** Reads waypoints as points, routes as lines and tracks as lines with a part per segment. */
export async function openGpx(
  source: ByteSource,
  options: { layer?: string; limits?: SourceLimits; encoding?: string } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file } = source
  const layer = options.layer?.toLowerCase()
  if (layer !== undefined && !(layer in LAYERS))
    throw new SourceError(`${file} has no layer ${options.layer}; GPX has ${Object.keys(LAYERS).join(', ')}.`)
  const elements = layer === undefined ? TOP_ELEMENTS : LAYERS[layer]!
  const table = new GpxTable(file, limits, layer === undefined)
  const contents = (layer ?? 'waypoints, routes or tracks').replace('_', ' ')
  const notes: string[] = []
  return openXmlFeatures(
    source,
    options.encoding,
    { columns: table.columns, notes },
    () => new GpxReader(file, elements, table, limits, contents, notes),
  )
}

class GpxReader implements XmlFeatureReader {
  readonly #file: string
  readonly #elements: string[]
  /** What the file should contain, in words. */
  readonly #contents: string
  readonly #table: GpxTable
  readonly #limits: SourceLimits
  readonly #notes: string[]
  readonly #parser = new SaxesParser()
  #rows: (Feature | UnreadableRow)[] = []
  /** The open elements, from the feature inwards. */
  #open: GpxElement[] = []
  #depth = 0
  #characters = 0
  /** The characters for which the parser has emitted no event yet. */
  #unheard = 0

  constructor(
    file: string,
    elements: string[],
    table: GpxTable,
    limits: SourceLimits,
    contents: string,
    notes: string[],
  ) {
    this.#file = file
    this.#contents = contents
    this.#elements = elements
    this.#table = table
    this.#limits = limits
    this.#notes = notes
    const parser = this.#parser
    parser.on('error', (error) => {
      throw new SourceError(
        `${file} is not valid XML after feature ${table.rows}: ${error.message.replace(/\.$/, '')}.`,
      )
    })
    parser.on('opentag', ({ name, attributes }) => this.#opened(localName(name), attributes))
    parser.on('closetag', () => this.#closed())
    parser.on('text', (text) => this.#said(text))
    parser.on('cdata', (text) => this.#said(text))
  }

  write(text: string): void {
    // The parser buffers a text or an attribute until it ends.
    this.#unheard += text.length
    this.#parser.write(text)
    this.#count(0)
  }

  close(): void {
    this.#parser.close()
    if (this.#table.rows === 0) throw new SourceError(`${this.#file} has no ${this.#contents}.`)
    this.#notes.push(...this.#table.lossNotes())
  }

  take(): (Feature | UnreadableRow)[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #opened(name: string, attributes: { [name: string]: string }): void {
    this.#unheard = 0
    if (++this.#depth > this.#limits.depth)
      throw new SourceError(`${this.#file} has elements nested more than ${this.#limits.depth} deep.`)
    if (this.#open.length === 0 && !this.#elements.includes(name)) return
    const element: GpxElement = { name, attributes, text: '', children: [] }
    this.#open.at(-1)?.children.push(element)
    this.#open.push(element)
    this.#count(ELEMENT_CHARACTERS)
  }

  #said(text: string): void {
    this.#unheard = 0
    const element = this.#open.at(-1)
    if (!element) return
    element.text += text
    this.#count(text.length)
  }

  #count(characters: number): void {
    this.#characters += characters
    // A track has many points, each with several elements: it may be larger in memory than other rows.
    if (this.#characters + this.#unheard > this.#limits.rowBytes * 4)
      throw new SourceError(
        `${this.#file}: feature ${this.#table.rows + 1} is larger than ${megabytes(this.#limits.rowBytes * 4)}.`,
      )
  }

  #closed(): void {
    this.#unheard = 0
    this.#depth--
    const element = this.#open.pop()
    if (!element || this.#open.length > 0) return
    this.#characters = 0
    this.#rows.push(this.#table.row(element))
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
