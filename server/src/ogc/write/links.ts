import type { Encoding } from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'

export interface Link {
  href: string
  rel: string
  type?: string
  title?: string
  /** A link to be followed by POST has a body; with `merge` it is added to the body of the request before. */
  method?: 'POST'
  body?: object
  merge?: true
}

export const ROOT = '/v1/ogc'

/** The query string of a link: the request's own, without the parameters in `omittedNames` and with `added`. */
export function linkQuery(pairs: readonly QueryPair[], omittedNames: readonly string[], added = ''): string {
  let text = ''
  for (const { name, raw } of pairs) {
    if (omittedNames.includes(name)) continue
    text += text === '' ? `?${raw}` : `&${raw}`
  }
  if (added === '') return text
  return text === '' ? `?${added}` : `${text}&${added}`
}

/** `self`, and `alternate` for every other encoding of the same document. */
export function selfAndAlternates(
  url: string,
  pairs: readonly QueryPair[],
  encodings: readonly Encoding[],
  current: Encoding,
): Link[] {
  const others = encodings.filter((encoding) => encoding !== current)
  return [
    { href: url + linkQuery(pairs, []), rel: 'self', type: current.mediaType, title: 'This document' },
    ...others.map((encoding) => ({
      href: url + linkQuery(pairs, ['f'], `f=${encoding.name}`),
      rel: 'alternate',
      type: encoding.mediaType,
      title: `This document as ${encoding.title}`,
    })),
  ]
}

/** Links as a header, for encodings that cannot contain them. */
export function linkHeader(links: readonly Link[]): string {
  return links
    .map(
      ({ href, rel, type }) =>
        `<${href.replaceAll('>', '%3E')}>; rel="${rel}"${type ? `; type="${type}"` : ''}`,
    )
    .join(', ')
}
