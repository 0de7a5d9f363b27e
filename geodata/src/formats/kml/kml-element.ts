/** An element of a placemark with its content. Names have no namespace prefix. */
export interface KmlElement {
  name: string
  attributes: { [name: string]: string }
  text: string
  children: KmlElement[]
}

export function childOf(element: KmlElement, name: string): KmlElement | undefined {
  return element.children.find((child) => child.name === name)
}

export function childrenOf(element: KmlElement, name: string): KmlElement[] {
  return element.children.filter((child) => child.name === name)
}

export function textOf(element: KmlElement, name: string): string | null {
  return childOf(element, name)?.text.trim() || null
}
