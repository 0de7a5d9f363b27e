/** An element of a placemark with its content. Names have no namespace prefix. */
export interface KmlElement {
  name: string
  attributes: { [name: string]: string }
  text: string
  children: KmlElement[]
  /** The length of its parent's text before it. */
  at: number
}

export function childOf(element: KmlElement, name: string): KmlElement | undefined {
  return element.children.find((child) => child.name === name)
}

export function childrenOf(element: KmlElement, name: string): KmlElement[] {
  return element.children.filter((child) => child.name === name)
}

export function textOf(element: KmlElement, name: string): string | null {
  const child = childOf(element, name)
  return child ? contentOf(child) : null
}

/**
 * The text of an element. Markup inside it, which should be in CDATA but often is not, becomes the same text
 * that CDATA would have.
 */
export function contentOf(element: KmlElement): string | null {
  return (element.children.length === 0 ? element.text : markupOf(element)).trim() || null
}

/** HTML elements that have no end tag. */
const VOID = new Set(['area', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'source', 'wbr'])

function markupOf({ text, children }: KmlElement): string {
  let markup = ''
  let from = 0
  for (const child of children) {
    const { name, attributes, at } = child
    const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeMarkup(value)}"`)
    const end = VOID.has(name.toLowerCase()) ? '' : `${markupOf(child)}</${name}>`
    markup += `${escapeMarkup(text.slice(from, at))}<${name}${list.join('')}>${end}`
    from = at
  }
  return markup + escapeMarkup(text.slice(from))
}

function escapeMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
