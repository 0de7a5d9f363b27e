import { SaxesParser } from 'saxes'
import type { Feature, FeatureStream, UnreadableRow } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { openXmlFeatures, type XmlFeatureReader } from '../reading/xml-features.ts'
import type { KmlElement } from './kml-element.ts'
import { KmlFolders } from './kml-folders.ts'
import { KmlTable } from './kml-table.ts'

/** The size that an empty element counts for, because it is an object in memory. */
const ELEMENT_CHARACTERS = 64
/** The tolerance for characters that the parser has read but not emitted yet. */
const PIECE_CHARACTERS = 1 << 19

/** Reads the placemarks of a KML document, at any folder depth. */
export async function openKml(
  source: ByteSource,
  options: { limits?: SourceLimits; encoding?: string } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file } = source
  const table = new KmlTable(file, limits)
  return openXmlFeatures(
    source,
    options.encoding,
    { columns: table.columns, notes: [] },
    () => new PlacemarkReader(file, table, limits),
  )
}

function noPlacemarks(file: string, hasLinks: boolean): string {
  return hasLinks
    ? `${file} has no placemarks, only links to other files, which are not followed.`
    : `${file} has no placemarks.`
}

/** HTML entities, undefined in XML, that occur in descriptions. External entities are never resolved. */
const HTML_ENTITIES = {
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  deg: '°',
  euro: '€',
  middot: '·',
  ndash: '–',
  mdash: '—',
}

class PlacemarkReader implements XmlFeatureReader {
  #hasLinks = false
  readonly #file: string
  readonly #table: KmlTable
  readonly #limits: SourceLimits
  readonly #parser = new SaxesParser()
  #rows: (Feature | UnreadableRow)[] = []
  /** The open elements, from the placemark or schema inwards. */
  #open: KmlElement[] = []
  readonly #folders = new KmlFolders()
  #depth = 0
  /** The size of the open placemark, and the characters for which the parser has emitted no event yet. */
  #characters = 0
  #unheard = 0

  constructor(file: string, table: KmlTable, limits: SourceLimits) {
    this.#file = file
    this.#table = table
    this.#limits = limits
    const parser = this.#parser
    Object.assign(parser.ENTITIES, HTML_ENTITIES)
    parser.on('error', (error) => {
      throw this.#invalid(error)
    })
    parser.on('opentag', ({ name, attributes }) => this.#opened(local(name), attributes))
    parser.on('closetag', ({ name }) => this.#closed(local(name)))
    parser.on('text', (text) => this.#said(text))
    parser.on('cdata', (text) => this.#said(text))
  }

  write(text: string): void {
    // The parser buffers a text node until it ends.
    this.#unheard += text.length
    this.#parser.write(text)
    this.#refuseLarge()
  }

  close(): void {
    this.#parser.close()
    if (this.#table.rows === 0) throw new SourceError(noPlacemarks(this.#file, this.#hasLinks))
  }

  take(): (Feature | UnreadableRow)[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  #invalid(error: Error): SourceError {
    const [, line, column, text] = /^(\d+):(\d+): (.*)$/s.exec(error.message) ?? [
      null,
      null,
      null,
      error.message,
    ]
    const reason = text!.replace(/\.$/, '')
    if (/unclosed tag|unexpected end/.test(reason))
      return new SourceError(`${this.#file} ends too early: after placemark ${this.#table.rows}, ${reason}.`)
    const where = line ? ` in line ${line}, column ${column}` : ''
    return new SourceError(`${this.#file} is not valid XML${where}: ${reason}.`)
  }

  #opened(name: string, attributes: { [name: string]: string }): void {
    this.#unheard = 0
    if (++this.#depth > this.#limits.depth)
      throw new SourceError(`${this.#file} has elements nested more than ${this.#limits.depth} deep.`)
    if (name === 'NetworkLink') this.#hasLinks = true
    if (this.#open.length === 0 && name !== 'Placemark' && name !== 'Schema') {
      this.#folders.open(name)
      return
    }
    const parent = this.#open.at(-1)
    const element: KmlElement = { name, attributes, text: '', children: [], at: parent?.text.length ?? 0 }
    parent?.children.push(element)
    this.#open.push(element)
    this.#characters += ELEMENT_CHARACTERS
  }

  #said(text: string): void {
    const element = this.#open.at(-1)
    if (!element) {
      this.#folders.text(text)
      return
    }
    element.text += text
    this.#characters += text.length
    this.#refuseLarge()
  }

  #refuseLarge(): void {
    if (this.#characters + this.#unheard > this.#limits.rowBytes + PIECE_CHARACTERS)
      throw new SourceError(
        `${this.#file}: placemark ${this.#table.rows + 1} is ${largerThan(this.#limits.rowBytes)}.`,
      )
  }

  #closed(name: string): void {
    this.#unheard = 0
    this.#depth--
    const element = this.#open.pop()
    if (!element) this.#folders.close()
    if (!element || this.#open.length > 0) return
    this.#characters = 0
    if (name === 'Schema') this.#table.addSchema(element)
    else this.#rows.push(this.#table.row(element, this.#folders.path()))
  }
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
