/** Whether `If-None-Match`, a list of tags or `*`, matches this tag. Uses weak comparison. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = opaqueTag(etag)
  return header.split(',').some((tag) => opaqueTag(tag.trim()) === opaque)
}

function opaqueTag(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}
