/** HTML that is safe to send: created by `html`, which escapes all interpolated text. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | null | readonly Content[]

/** Escapes interpolated text, for elements and for quoted attributes; `Html` values are not escaped again. */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Html {
  return new Html(strings.reduce((text, part, i) => text + textOf(contents[i - 1]!) + part))
}

function textOf(content: Content): string {
  if (content instanceof Html) return content.text
  if (Array.isArray(content)) return content.map(textOf).join('')
  return content === null ? '' : escapeHtml(String(content))
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** For every HTML page: no other window keeps a handle on it, and it uses no sensor of the device. */
export const ISOLATION_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

interface PageSources {
  /** Other origins that the page's scripts may load data and images from. */
  origins?: readonly string[]
  /** Which sites may show the page in a frame. */
  frameAncestors?: "'none'" | '*'
}

/** The policy of our own pages: nothing inline, and no other sources and sites than those named. */
export function pagePolicy({ origins = [], frameAncestors = "'none'" }: PageSources = {}): string {
  const others = origins.map((origin) => ` ${origin}`).join('')
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:${others}; connect-src 'self'${others}; worker-src 'self' blob:; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ${frameAncestors}`
}

/** For our own pages: no external resources, nothing inline, and no framing by other sites. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy(),
  'referrer-policy': 'no-referrer',
  ...ISOLATION_HEADERS,
} as const
