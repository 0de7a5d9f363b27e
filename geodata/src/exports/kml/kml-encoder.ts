import { copyBytes } from '../../bytes/copy-bytes.ts'
import { FeatureSlices, type PackBlock } from '../../pack/pack-reader.ts'
import { stringValue } from '../../pack/property-slices.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import type { EncodeWork } from '../encoding/encode-work.ts'
import { type EncodedFeatures, FeatureBatch, type FeatureEncoder } from '../encoding/feature-batch.ts'
import { nameColumn } from '../name-column.ts'
import { Stamp } from '../stamp.ts'
import { KmlGeometryWriter } from './kml-geometry.ts'
import { putXmlText, xmlAttribute, xmlText } from './xml-text.ts'

const QUOTE = 0x22
const TRUE = 0x74
const PLACEMARK = new Stamp('<Placemark>')
const NAME = new Stamp('<name>')
const NAME_END = new Stamp('</name>')
const WHEN = new Stamp('<TimeStamp><when>')
const WHEN_END = new Stamp('</when></TimeStamp>')
const DATA_END = new Stamp('</SchemaData></ExtendedData>')
const VALUE_END = new Stamp('</SimpleData>')
const PLACEMARK_END = new Stamp('</Placemark>\n')
/** KML has no boxes, so they are not computed. */
const NO_BOX = { west: 0, south: 0, east: 0, north: 0 }

/** One placemark for each feature. */
export class KmlEncoder implements FeatureEncoder {
  readonly #batch = new FeatureBatch()
  readonly #slices = new FeatureSlices()
  readonly #values: RowSlices
  readonly #geometry: KmlGeometryWriter
  readonly #isJson: boolean[]
  readonly #isBoolean: boolean[]
  readonly #name: number
  readonly #time: number
  readonly #dataStart: Stamp
  readonly #valueStarts: Stamp[]
  readonly #tagBytes: number

  constructor({ manifest, table }: EncodeWork) {
    const columns = exportColumns(manifest)
    this.#values = new RowSlices(manifest)
    this.#geometry = new KmlGeometryWriter(this.#batch, manifest.hasZ)
    this.#isJson = columns.map(({ type }) => type === 'json')
    this.#isBoolean = columns.map(({ type }) => type === 'boolean')
    this.#name = nameColumn(columns)
    this.#time = columns.findIndex(({ name }) => name === manifest.timeColumn)
    this.#dataStart = new Stamp(`<ExtendedData><SchemaData schemaUrl="#${table}">`)
    this.#valueStarts = columns.map(({ name }) => new Stamp(`<SimpleData name="${xmlAttribute(name)}">`))
    this.#tagBytes = this.#valueStarts.reduce((sum, start) => sum + start.length + VALUE_END.length, 512)
  }

  encode({ bytes, count, starts, ends }: PackBlock): EncodedFeatures {
    const batch = this.#batch
    const slices = this.#slices
    batch.begin(count)
    for (let i = 0; i < count; i++) {
      slices.locate(bytes, starts[i]!, ends[i]!)
      this.#values.locateRow(bytes, slices)
      // The name and the time are written twice.
      batch.reserve((slices.propertiesEnd - slices.idStart) * 11 + this.#tagBytes)
      this.#putValues(bytes)
      this.#geometry.put(bytes, slices.geometryStart, slices.geometryEnd)
      batch.reserve(PLACEMARK_END.length + 4)
      batch.at = PLACEMARK_END.put(batch, batch.at)
      batch.end(NO_BOX)
    }
    return batch.finish()
  }

  #putValues(bytes: Buffer): void {
    const batch = this.#batch
    const values = this.#values
    const [name, time] = [this.#name, this.#time]
    let at = PLACEMARK.put(batch, batch.at)
    if (name >= 0 && !values.isNull(bytes, name)) {
      at = NAME.put(batch, at)
      at = this.#putValue(bytes, name, at)
      at = NAME_END.put(batch, at)
    }
    if (time >= 0 && isXmlTime(bytes, values.starts[time]!, values.ends[time]!)) {
      at = WHEN.put(batch, at)
      at = this.#putValue(bytes, time, at)
      at = WHEN_END.put(batch, at)
    }
    if (this.#valueStarts.length > 0) {
      at = this.#dataStart.put(batch, at)
      for (let c = 0; c < this.#valueStarts.length; c++) {
        if (values.isNull(bytes, c)) continue
        at = this.#valueStarts[c]!.put(batch, at)
        at = this.#putValue(bytes, c, at)
        at = VALUE_END.put(batch, at)
      }
      at = DATA_END.put(batch, at)
    }
    batch.at = at
  }

  #putValue(bytes: Buffer, c: number, at: number): number {
    const out = this.#batch.buffer
    const values = this.#values
    const start = values.starts[c]!
    const end = values.ends[c]!
    const first = bytes[start]
    if (this.#isJson[c]) return putXmlText(bytes, start, end, out, at)
    if (first === QUOTE) {
      if (values.escaped[c]) return at + out.write(xmlText(stringValue(bytes, start, end)), at)
      return putXmlText(bytes, start + 1, end - 1, out, at)
    }
    // xsd:boolean allows 1 and 0 as well as true and false, and readers that expect a number accept them.
    if (this.#isBoolean[c]) {
      out[at] = first === TRUE ? 0x31 : 0x30
      return at + 1
    }
    return copyBytes(bytes, start, end, out, at)
  }
}

/** `when` requires xsd:dateTime or xsd:date, whose years have four digits and do not include year 0. */
function isXmlTime(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < 12 || bytes[start + 5] !== 0x2d) return false
  let year = 0
  for (let p = start + 1; p < start + 5; p++) {
    const digit = bytes[p]! - 48
    if (digit < 0 || digit > 9) return false
    year = year * 10 + digit
  }
  return year > 0
}
