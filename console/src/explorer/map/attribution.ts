import type { DatasetDetails } from '@wayleave/contract/records'

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Whom a map of the dataset must name, as HTML: its source, or the title and who publishes it. */
export function attributionOf({ attribution, title, owner }: DatasetDetails): string {
  const words = attribution || (owner ? `${title}, ${owner.name}` : title)
  // A map leaves out what another attribution contains, such as that of the background.
  return `Data: ${words}`.replace(/[&<>"]/g, (character) => ESCAPES[character]!)
}
