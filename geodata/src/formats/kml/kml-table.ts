import type { Feature, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { SourceLimits } from '../reading/source-limits.ts'
import { childOf, childrenOf, contentOf, type KmlElement, textOf } from './kml-element.ts'
import { readKmlGeometry } from './kml-geometry.ts'

/** Turns placemarks into rows and discovers the columns. */
export class KmlTable {
  readonly columns: SourceColumn[] = []
  rows = 0
  readonly #file: string
  readonly #limits: SourceLimits
  readonly #places = new Map<string, number>()
  /** The declared types of schema fields, by `schema id` and field name. */
  readonly #declared = new Map<string, string>()

  constructor(file: string, limits: SourceLimits) {
    this.#file = file
    this.#limits = limits
  }

  addSchema(schema: KmlElement): void {
    const id = schema.attributes['id'] ?? schema.attributes['name'] ?? ''
    for (const field of childrenOf(schema, 'SimpleField'))
      this.#declared.set(`${id}/${field.attributes['name']}`, field.attributes['type'] ?? 'string')
  }

  /** `folder` is the path of the named folders around the placemark, or null. */
  row(placemark: KmlElement, folder: string | null): Feature | UnreadableRow {
    const row = ++this.rows
    const values: Value[] = []
    const set = (key: string, name: string, type: SourceColumn['type'], value: string | null) => {
      if (value === null) return
      const place = this.#place(key, name, type)
      while (values.length < place) values.push(null)
      values[place] = value
    }
    for (const name of ['name', 'description']) set(name, name, 'text', textOf(placemark, name))
    set('folder', 'folder', 'text', folder)
    const stamp = childOf(placemark, 'TimeStamp')
    if (stamp) set('timestamp', 'timestamp', 'infer-text', textOf(stamp, 'when'))
    const span = childOf(placemark, 'TimeSpan')
    for (const name of ['begin', 'end']) if (span) set(name, name, 'infer-text', textOf(span, name))
    for (const data of childOf(placemark, 'ExtendedData')?.children ?? []) this.#setExtended(data, set)
    try {
      return { id: placemark.attributes['id'] || null, values, geometry: readKmlGeometry(placemark), row }
    } catch (error) {
      if (error instanceof SourceError) return { row, problem: error.message }
      throw error
    }
  }

  #setExtended(
    data: KmlElement,
    set: (key: string, name: string, type: SourceColumn['type'], value: string | null) => void,
  ): void {
    if (data.name === 'Data') {
      const name = data.attributes['name'] ?? ''
      set(`data ${name}`, name, 'infer-text', textOf(data, 'value'))
    } else if (data.name === 'SchemaData') {
      const schema = (data.attributes['schemaUrl'] ?? '').replace(/^.*#/, '')
      for (const simple of childrenOf(data, 'SimpleData')) {
        const name = simple.attributes['name'] ?? ''
        const declared = this.#declared.get(`${schema}/${name}`)
        const value = contentOf(simple)
        if (declared === 'bool') set(`data ${name}`, name, 'infer-text', value && booleanText(value))
        else set(`data ${name}`, name, declared === 'string' ? 'text' : 'infer-text', value)
      }
    } else set(`data ${data.name}`, data.name, 'infer-text', contentOf(data))
  }

  #place(key: string, name: string, type: SourceColumn['type']): number {
    const earlierPlace = this.#places.get(key)
    if (earlierPlace !== undefined) return earlierPlace
    const place = this.columns.length
    if (place >= this.#limits.columns)
      throw new SourceError(`${this.#file} has more than ${this.#limits.columns} columns.`)
    this.#places.set(key, place)
    this.columns.push({ name, type })
    return place
  }
}

function booleanText(value: string): string {
  return value === '1' ? 'true' : value === '0' ? 'false' : value
}
