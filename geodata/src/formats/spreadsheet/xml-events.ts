import { SaxesParser } from 'saxes'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { XmlText } from '../reading/xml-text.ts'

/** The receiver of a document's elements. Names have no namespace prefix. */
export interface XmlEvents {
  open(name: string, attributes: { [name: string]: string }): void
  close(name: string): void
  text(text: string): void
}

/** Parses a document piece by piece; yields after each, so that the receiver can pass on what it has. */
export async function* parseXml(source: ByteSource, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw new SourceError(`${source.file} is not valid XML: ${error.message.replace(/\.$/, '')}.`)
  })
  parser.on('opentag', ({ name, attributes }) => events.open(localName(name), attributes))
  parser.on('closetag', ({ name }) => events.close(localName(name)))
  parser.on('text', (text) => events.text(text))
  parser.on('cdata', (text) => events.text(text))
  let text: XmlText | null = null
  for await (const piece of source.bytes) {
    text ??= new XmlText(Buffer.from(piece), source.file)
    parser.write(text.decode(piece))
    yield
  }
  parser.write(text?.decode(null) ?? '')
  parser.close()
  yield
}

export async function parseWholeXml(source: ByteSource, events: XmlEvents): Promise<void> {
  for await (const _ of parseXml(source, events)) {
    // The receiver keeps what it needs.
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
