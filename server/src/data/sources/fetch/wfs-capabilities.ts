/** What is needed of the capabilities of a WFS. */
export interface WfsCapabilities {
  /** The formats of features. */
  formats: string[]
  types: WfsType[]
}

interface WfsType {
  name: string
  /** CRS84 as the service writes it, or null if it does not name it. */
  crs84: string | null
}

const CRS84 = /urn:ogc:def:crs:OGC:(1\.3)?:CRS84/
const GET_FEATURE = /\sname\s*=\s*["']GetFeature["']/

/**
 * Null if the document is not the capabilities of a WFS. It may be as large and as malformed as a server likes, so every
 * character is looked at a fixed number of times: a regular expression that searches an end from each start does not.
 */
export function readCapabilities(document: string): WfsCapabilities | null {
  const capabilities: WfsCapabilities = { formats: [], types: [] }
  let isWfs = false
  let isGetFeature = false
  let type: { name: string | null; crs84: string | null } | null = null
  for (const { name, isEnd, tag, text } of elementsOf(document)) {
    if (name === 'WFS_Capabilities') isWfs = true
    else if (name === 'Operation') isGetFeature = !isEnd && GET_FEATURE.test(tag)
    else if (name === 'Value' && isGetFeature && !isEnd) capabilities.formats.push(unescaped(text.trim()))
    else if (name === 'FeatureType') {
      if (type?.name) capabilities.types.push({ name: type.name, crs84: type.crs84 })
      type = isEnd ? null : { name: null, crs84: null }
    } else if (type && !isEnd) {
      if (name === 'Name') type.name ??= unescaped(text.trim())
      else type.crs84 ??= CRS84.exec(text)?.[0] ?? null
    }
  }
  return isWfs ? capabilities : null
}

/** Each tag, without its prefix, and the text behind it. */
function* elementsOf(document: string) {
  for (let at = document.indexOf('<'); at !== -1; ) {
    const isComment = document.startsWith('<!--', at)
    const end = document.indexOf(isComment ? '-->' : '>', at)
    if (end === -1) return
    const next = document.indexOf('<', end)
    if (!isComment) {
      const tag = document.slice(at + 1, end)
      const [, slash, name] = /^(\/?)(?:[^\s/:]{1,100}:)?([^\s/:]{1,100})/.exec(tag) ?? []
      const text = document.slice(end + 1, next === -1 ? undefined : next)
      yield { name, isEnd: slash === '/', tag, text }
    }
    at = next
  }
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}
