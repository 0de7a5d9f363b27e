/** HTML that is safe to send: made by `markup`, which escapes whatever is put into it. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Markup | string | number | null | readonly Content[]

/** Texts that are put in are escaped, for elements and for quoted attributes; markup is not escaped again. */
export function markup(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  let text = strings[0]!
  contents.forEach((content, i) => {
    text += textOf(content) + strings[i + 1]!
  })
  return new Markup(text)
}

function textOf(content: Content): string {
  if (content instanceof Markup) return content.text
  if (Array.isArray(content)) return content.map(textOf).join('')
  return content === null ? '' : escapeHtml(String(content))
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}
