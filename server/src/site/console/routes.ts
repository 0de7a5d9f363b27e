import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag, preferredEncoding } from '../../http/headers.ts'
import { type Html, html, PAGE_HEADERS, pagePolicy } from '../../http/pages/html.ts'
import { plainPage } from '../../http/pages/page-layout.ts'

const BUILD = new URL('../../../../console/dist/', import.meta.url)
const ALL_STORED = ['br', 'gzip'] as const
const STORED = ['gzip'] as const
const MEDIA_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

/** The console's own pages. Any other unknown path stays a 404 problem response. */
const PAGES = [
  '/',
  '/sign-in',
  '/invitation',
  '/connect',
  '/unsubscribe',
  '/datasets',
  '/datasets/:table',
  '/keys',
  '/keys/:keyId',
  '/organization',
  '/getting-started',
  '/account',
  '/organization/:part',
  '/organization/webhooks/:webhookId',
  '/administration',
  '/administration/:part',
  '/administration/keys/:keyId',
  '/administration/webhooks/:webhookId',
  '/administration/organizations/:organizationId',
  '/administration/users/:userId',
]

/** The map of a dataset that other sites may show in a frame. It has no session: only public data is shown. */
const EMBED = '/embed/:table'

/** What the operator's settings mean for the console. */
export interface ConsoleOptions {
  headOf: PageHeadOf
  about: About
  /** The address of a MapLibre style or of a PMTiles file; null for the console's own background of maps. */
  basemap: string | null
  /** The folder of the built console. */
  build?: URL
}

/** Makes the title and the descriptions in the head of a page, which may be the page of a dataset. */
type PageHeadOf = (request: FastifyRequest, table: string | undefined) => Promise<Html>

const TITLE = /<title>[^<]*<\/title>/

interface Asset {
  bytes: Buffer
  gzip: Buffer
  /** As the build has written it. */
  br: Buffer | null
}

/**
 * Serves the built web console, or, without a build, a page that says how to make one.
 *
 * See docs/decisions/console-files.md.
 */
export function consoleRoutes(app: App, { headOf, about, basemap, build = BUILD }: ConsoleOptions): void {
  const origins = basemap === null ? [] : [new URL(basemap).origin]
  const settings = settingsElement({ basemap })
  const hidden = { schema: { hide: true } }
  /** File names contain a content hash, so the assets are cached for the lifetime of the process. */
  const assets = new Map<string, Promise<Asset>>()

  const read = async (url: URL): Promise<Asset> => {
    const bytes = await readFile(url)
    return {
      bytes,
      gzip: await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
      br: await readFile(new URL(`${url.href}.br`)).catch(() => null),
    }
  }

  const sendPage = async (request: FastifyRequest, reply: FastifyReply, file: string, policy: string) => {
    const page = await readFile(new URL(file, build), 'utf8').catch(() => undefined)
    reply.headers({ ...PAGE_HEADERS, 'content-security-policy': policy })
    if (page === undefined) return sendUnlessCached(request, reply, Buffer.from(withoutBuild(about)))
    const { table } = request.params as { table?: string }
    const head = await headOf(request, table)
    return sendUnlessCached(request, reply, Buffer.from(page.replace(TITLE, () => head.text + settings)))
  }

  const policy = pagePolicy({ origins })
  for (const path of PAGES) {
    app.get(path, hidden, (request, reply) => sendPage(request, reply, 'index.html', policy))
  }
  const embedPolicy = pagePolicy({ origins, frameAncestors: '*' })
  app.get(EMBED, hidden, (request, reply) => sendPage(request, reply, 'embed.html', embedPolicy))

  app.get('/theme.js', hidden, async (request, reply) => {
    const bytes = await readFile(new URL('theme.js', build)).catch(() => undefined)
    if (!bytes) throw notFound('such file')
    return sendUnlessCached(request, reply.header('content-type', MEDIA_TYPES['.js']), bytes)
  })

  app.get<{ Params: { name: string } }>('/assets/:name', hidden, async (request, reply) => {
    const { name } = request.params
    const mediaType = /^[\w-]+(\.[\w-]+)+$/.test(name) ? MEDIA_TYPES[extname(name)] : undefined
    if (!mediaType) throw notFound('such file')
    let asset = assets.get(name)
    if (!asset) {
      asset = read(new URL(`assets/${name}`, build))
      assets.set(name, asset)
      asset.catch(() => assets.delete(name))
    }
    const file = await asset.catch(() => {
      throw notFound('such file')
    })
    return send(request, reply.header('content-type', mediaType), file)
  })
}

/** Data for the console's scripts; browsers do not execute a script element of this type. */
function settingsElement(settings: object): string {
  const text = JSON.stringify(settings).replaceAll('<', '\\u003c')
  return `\n    <script type="application/json" id="console-settings">${text}</script>`
}

/** The browser asks at every load whether its copy is current; if it is, no body is sent. */
function sendUnlessCached(request: FastifyRequest, reply: FastifyReply, bytes: Buffer) {
  const etag = `"${hash('sha256', bytes).slice(0, 32)}"`
  reply.header('cache-control', 'no-cache').header('etag', etag)
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
  return reply.send(bytes)
}

function send(request: FastifyRequest, reply: FastifyReply, { bytes, gzip, br }: Asset) {
  reply.header('cache-control', 'public, max-age=31536000, immutable').header('vary', 'Accept-Encoding')
  const coding = preferredEncoding(request.headers['accept-encoding'], br === null ? STORED : ALL_STORED)
  if (coding === 'identity') return reply.send(bytes)
  return reply.header('content-encoding', coding).send(coding === 'br' ? br : gzip)
}

function withoutBuild(about: About): string {
  const content = html`<h1>The service runs. The console is not built.</h1>
<p>Build it with this line in the folder of the service, then load this page again:</p>
<pre><code>npm run build --workspace console</code></pre>
<p><code>npm start</code> builds it by itself. The API does without it: see the <a href="/docs">documentation</a>.</p>`
  return plainPage({ about, title: 'The console is not built', content })
}
