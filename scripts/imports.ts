export interface Import {
  specifier: string
  line: number
}

/**
 * The forms by which one file names another: statements (types included), `import()`, `require`, and the
 * address of a worker or a file beside the module. Statements start a line, as the formatter sees to.
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

/** Blanks the lines that are comments, so that what they mention is no import; the others keep their number. */
export function withoutComments(source: string): string {
  return source.replace(/^[ \t]*(?:\/\/|\/?\*).*$/gm, '')
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
