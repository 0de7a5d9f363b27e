/** Names that cannot be variables in a language, or that the example needs itself. */
const TAKEN = {
  python: `and as assert async await break class client continue def del elif else except finally for from global
    if import in is lambda nonlocal not or pass print raise return try while with yield`,
  javascript: `arguments await break case catch class const continue debugger default delete do else enum eval export
    extends false feature finally for function if implements import in instanceof interface let new null package
    private protected public return static super switch this throw true try typeof undefined var void wayleave while
    with yield console`,
  r: 'address break else file for function if in next repeat while library print head',
}

/** The name of a variable for the rows of a dataset: its table name, which suits every language but for some words. */
export function variableName(table: string, language: keyof typeof TAKEN): string {
  return TAKEN[language].split(/\s+/).includes(table) ? `${table}_rows` : table
}
