import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { notFound } from '../../base/problem.ts'
import { textOn } from '../../base/settings/accent-color.ts'
import type { App } from '../../http/fastify-app.ts'
import { sendPageFile } from '../../http/pages/send-page-file.ts'

/** One source of styles for the console, the documentation and the pages of the OGC API. */
const STYLES = new URL('./', import.meta.url)
const SHEETS = ['base', 'layout', 'controls', 'tables', 'content', 'cards', 'prose']

const CSS = 'text/css; charset=utf-8'
const LOGO_TYPES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

interface SiteSettings {
  logo: string | null
  accent: string
  accentDark: string
}

/** The styles that all pages share, and what the operator chose: colors and logo. */
export function siteRoutes(app: App, { logo, accent, accentDark }: SiteSettings): void {
  const hidden = { schema: { hide: true } }
  const styles = Buffer.from(
    SHEETS.map((name) => readFileSync(new URL(`${name}.css`, STYLES), 'utf8')).join('\n'),
  )
  const colors = Buffer.from(colorStyles(accent, accentDark))

  app.get('/site/site.css', hidden, (request, reply) =>
    sendPageFile(request, reply, { mediaType: CSS, bytes: styles }),
  )

  app.get('/site/colors.css', hidden, (request, reply) =>
    sendPageFile(request, reply, { mediaType: CSS, bytes: colors }),
  )

  app.get('/site/logo', hidden, async (request, reply) => {
    const bytes = logo === null ? undefined : await readFile(logo).catch(() => undefined)
    if (logo === null || !bytes) throw notFound('such file')
    // A picture may contain scripts, which must not run if it is opened as a page.
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    return sendPageFile(request, reply, { mediaType: LOGO_TYPES[extname(logo).toLowerCase()]!, bytes })
  })
}

/** The operator's colors, in a selector that wins over that of base.css, whichever is loaded first. */
function colorStyles(accent: string, accentDark: string): string {
  return `html:root {
  --accent: light-dark(${accent}, ${accentDark});
  --on-accent: light-dark(${textOn(accent)}, ${textOn(accentDark)});
  --accent-wash: light-dark(color-mix(in srgb, ${accent} 11%, white), color-mix(in srgb, ${accentDark} 16%, #121816));
}
`
}
