/** What the WKT of a CRS says about itself, as far as we need it to find the CRS in our list. */
export interface CrsWkt {
  name: string
  /** The EPSG (or ESRI) number at its root. */
  code: number | null
  /** The name of the geographic CRS that a projected one stands on. */
  geographicName: string | null
  hasShift: boolean
  /** The horizontal part, without the height of a compound CRS or the wrapping of a bound one. */
  text: string
  /** The same with a shift to WGS84 (`dx,dy,dz[,rx,ry,rz,scale]`), which ESRI's WKT leaves out. */
  withShift(towgs84: string): string
}

interface Node {
  keyword: string
  /** Texts and numbers, as they stand. */
  values: string[]
  children: Node[]
  start: number
  end: number
}

const HORIZONTAL = /^(PROJCS|PROJCRS|PROJECTEDCRS|GEOGCS|GEOGCRS|GEOGRAPHICCRS|GEODCRS|GEODETICCRS)$/
const WRAPPING = /^(COMPD_CS|COMPOUNDCRS|BOUNDCRS|SOURCECRS)$/
const GEOGRAPHIC = /^(GEOG|GEODCRS|GEODETICCRS|BASEGEO)/

/** Null where the text is not the WKT of a horizontal CRS. */
export function readCrsWkt(text: string): CrsWkt | null {
  const root = parse(text)
  const crs = root && horizontal(root)
  if (!crs) return null
  const datum = find(crs, /^(DATUM|GEODETICDATUM)$/)
  const isWkt1 = /CS$/.test(crs.keyword)
  return {
    name: crs.values[0] ?? '',
    code: codeOf(crs),
    geographicName: crs.children.find((child) => GEOGRAPHIC.test(child.keyword))?.values[0] ?? null,
    hasShift: !isWkt1 || !datum || find(datum, /^TOWGS84$/) !== null,
    text: text.slice(crs.start, crs.end),
    withShift: (towgs84) =>
      `${text.slice(crs.start, datum!.end - 1)},TOWGS84[${towgs84}]${text.slice(datum!.end - 1, crs.end)}`,
  }
}

function horizontal(node: Node): Node | null {
  if (HORIZONTAL.test(node.keyword)) return node
  if (!WRAPPING.test(node.keyword)) return null
  for (const child of node.children) {
    const found = horizontal(child)
    if (found) return found
  }
  return null
}

function codeOf(crs: Node): number | null {
  const id = crs.children.find((child) => child.keyword === 'AUTHORITY' || child.keyword === 'ID')
  const [authority, code] = id?.values ?? []
  return /^(EPSG|ESRI)$/i.test(authority ?? '') && /^\d+$/.test(code ?? '') ? Number(code) : null
}

function find(node: Node, keyword: RegExp): Node | null {
  for (const child of node.children) {
    const found = keyword.test(child.keyword) ? child : find(child, keyword)
    if (found) return found
  }
  return null
}

/** Keywords, quoted texts, numbers or bare words, brackets of both kinds. */
const TOKEN = /\s*(?:([A-Za-z_][A-Za-z0-9_]*)\s*[[(]|"((?:[^"]|"")*)"|([^\s,[\]()"]+)|([\])])|,)/y
const MAX_DEPTH = 32

function parse(text: string): Node | null {
  TOKEN.lastIndex = 0
  const open: Node[] = []
  for (;;) {
    const match = TOKEN.exec(text)
    if (!match) return null
    const [whole, keyword, quoted, bare, close] = match
    const current = open.at(-1)
    if (keyword !== undefined) {
      const start = TOKEN.lastIndex - whole.trimStart().length
      const node: Node = { keyword: keyword.toUpperCase(), values: [], children: [], start, end: 0 }
      if (open.length === MAX_DEPTH) return null
      current?.children.push(node)
      open.push(node)
    } else if (!current) {
      return null
    } else if (quoted !== undefined) {
      current.values.push(quoted.replaceAll('""', '"'))
    } else if (bare !== undefined) {
      current.values.push(bare)
    } else if (close !== undefined) {
      current.end = TOKEN.lastIndex
      open.pop()
      if (open.length === 0) return current
    }
  }
}
