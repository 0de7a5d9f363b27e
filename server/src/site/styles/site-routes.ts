import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../base/problem.ts'
import { textOn } from '../../base/settings/accent-color.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag } from '../../http/headers.ts'

/** One source of styles for the console, the documentation and the pages of the OGC API. */
const STYLES = new URL('./', import.meta.url)
const SHEETS = ['base', 'layout', 'controls', 'tables', 'content', 'prose']

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
    send(request, reply, 'text/css; charset=utf-8', styles),
  )

  app.get('/site/colors.css', hidden, (request, reply) =>
    send(request, reply, 'text/css; charset=utf-8', colors),
  )

  app.get('/site/logo', hidden, async (request, reply) => {
    const bytes = logo === null ? undefined : await readFile(logo).catch(() => undefined)
    if (logo === null || !bytes) throw notFound('such file')
    // A picture may contain scripts, which must not run if it is opened as a page.
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    return send(request, reply, LOGO_TYPES[extname(logo).toLowerCase()]!, bytes)
  })
}

function send(request: FastifyRequest, reply: FastifyReply, mediaType: string, bytes: Buffer) {
  const etag = `"${hash('sha256', bytes).slice(0, 32)}"`
  reply.header('etag', etag).header('cache-control', 'public, max-age=300')
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.header('content-type', mediaType).send(bytes)
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
