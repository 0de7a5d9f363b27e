import type { ObjectInfo } from '../object-store.ts'

/** Reads and writes the XML documents of the S3 protocol. They have no attributes and no mixed content. */

export interface ListedPage {
  objects: ObjectInfo[]
  /** The common prefixes of a listing with a delimiter. */
  prefixes: string[]
  /** Where the next page begins; null on the last page. */
  next: string | null
}

export function parseListing(xml: string): ListedPage {
  const objects = elements(xml, 'Contents').map((content) => ({
    key: decodeKey(text(content, 'Key')),
    bytes: Number(text(content, 'Size')),
    modifiedAt: new Date(text(content, 'LastModified')),
  }))
  const prefixes = elements(xml, 'CommonPrefixes').map((prefix) => decodeKey(text(prefix, 'Prefix')))
  const isTruncated = text(xml, 'IsTruncated') === 'true'
  return { objects, prefixes, next: isTruncated ? text(xml, 'NextContinuationToken') : null }
}

export interface DeleteFailure {
  key: string
  code: string
}

export function parseDeleteFailures(xml: string): DeleteFailure[] {
  return elements(xml, 'Error').map((error) => ({ key: text(error, 'Key'), code: text(error, 'Code') }))
}

export function deleteDocument(keys: readonly string[]): string {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('')
  return `<?xml version="1.0" encoding="UTF-8"?><Delete><Quiet>true</Quiet>${objects}</Delete>`
}

export function completeDocument(etags: readonly string[]): string {
  const parts = etags.map(
    (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?><CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

/** The text of the first element with this name; empty if there is none. */
export function text(xml: string, name: string): string {
  const match = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)
  return match ? unescapeXml(match[1]!) : ''
}

function elements(xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs')), (match) => match[1]!)
}

/** Listings are requested with `encoding-type=url`, because XML cannot express every character of a key. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    return key
  }
}

function escapeXml(value: string): string {
  return value.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(value: string): string {
  return value.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    if (decimal) return String.fromCodePoint(Number(decimal))
    return ENTITIES[name as string] ?? whole
  })
}
