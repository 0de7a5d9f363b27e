/** A keyword of WKT with the content of its brackets. */
export interface WktNode {
  keyword: string
  /** The texts, numbers and bare words directly inside, in order. */
  values: string[]
  children: WktNode[]
}

/** Keywords, quoted texts, numbers or bare words, brackets of both kinds. */
const TOKEN = /\s*(?:([A-Za-z_][A-Za-z0-9_]*)\s*[[(]|"((?:[^"]|"")*)"|([^\s,[\]()"]+)|([\])])|,)/y
const MAX_DEPTH = 32

/** Parses WKT 1 or WKT 2. Returns null if the text is not WKT. */
export function parseWkt(text: string): WktNode | null {
  TOKEN.lastIndex = 0
  const open: WktNode[] = []
  for (;;) {
    const match = TOKEN.exec(text)
    if (!match) return null
    const [, keyword, quoted, bare, close] = match
    const current = open.at(-1)
    if (keyword !== undefined) {
      const node: WktNode = { keyword: keyword.toUpperCase(), values: [], children: [] }
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
      open.pop()
      if (open.length === 0) return current
    }
  }
}

export function child(node: WktNode, keyword: RegExp): WktNode | null {
  return node.children.find((each) => keyword.test(each.keyword)) ?? null
}

export function childrenOf(node: WktNode, keyword: RegExp): WktNode[] {
  return node.children.filter((each) => keyword.test(each.keyword))
}
