import { lexer, type Token } from 'marked'

/** Most descriptions are plain sentences; a catalogue of many datasets should not parse them. */
const MARKS = /[*_`#[\]<>\\|~&]|^[ \t]*(?:\d+[.)]|[-+])\s|^[ \t]*[-=]+[ \t]*$/m

/** The text of Markdown without its marks, on one line, for places that show plain text. */
export function plainText(markdown: string): string {
  return (MARKS.test(markdown) ? parsedText(markdown) : markdown).replace(/\s+/g, ' ').trim()
}

function parsedText(markdown: string): string {
  try {
    return textOf(lexer(markdown))
  } catch {
    // Thousands of nested quotes or lists exceed the stack of the parser.
    return markdown
  }
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(tokenText).join('')
}

function tokenText(token: Token): string {
  switch (token.type) {
    case 'space':
    case 'hr':
    case 'br':
      return ' '
    case 'code':
    case 'codespan':
    case 'escape':
      return `${token['text']}${token.type === 'code' ? ' ' : ''}`
    case 'html':
      // HTML is not interpreted: the dataset's page shows it as text too.
      return token.raw
    case 'image':
      return String(token['text'])
    case 'list':
      return (token['items'] as Token[]).map((item) => `${tokenText(item)} `).join('')
    case 'table':
      return tableText(token as unknown as { header: Cell[]; rows: Cell[][] })
    default: {
      const nested = (token as { tokens?: Token[] }).tokens
      const text = nested ? textOf(nested) : String((token as { text?: string }).text ?? token.raw)
      return ['paragraph', 'heading', 'blockquote', 'list_item'].includes(token.type) ? `${text} ` : text
    }
  }
}

interface Cell {
  tokens: Token[]
}

function tableText({ header, rows }: { header: Cell[]; rows: Cell[][] }): string {
  return [header, ...rows].map((cells) => cells.map(({ tokens }) => `${textOf(tokens)} `).join('')).join('')
}
