export interface Import {
  specifier: string
  line: number
}

/**
 * The ways in which one file refers to another: statements (including types), `import()`, `require`, and the
 * URL of a worker or of a file next to the module. Statements start a line, which the formatter ensures.
 */
const forms = [
  /^(?:import|export)\b(?:[\w\s*{},$]+?\bfrom)?\s*(['"])(?<specifier>[^'"\n]+)\1/gm,
  /\bimport\(\s*(['"`])(?<specifier>[^'"`\n]+)\1/g,
  /\brequire(?:\.resolve)?\(\s*(['"])(?<specifier>[^'"\n]+)\1/g,
  /\bimport\.meta\.resolve\(\s*(['"])(?<specifier>[^'"\n]+)\1/g,
  /\bnew URL\(\s*(['"])(?<specifier>[^'"\n]+)\1,\s*import\.meta\.url/g,
]

export function importsOf(source: string): Import[] {
  const code = withoutComments(source)
  return forms
    .flatMap((form) => [...code.matchAll(form)])
    .map((match) => ({ specifier: match.groups!['specifier']!, line: lineAt(code, match.index) }))
    .sort((a, b) => a.line - b.line)
}

/** Blanks comment lines, so that imports in them do not count. Line numbers do not change. */
export function withoutComments(source: string): string {
  return source.replace(/^[ \t]*(?:\/\/|\/?\*).*$/gm, '')
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
