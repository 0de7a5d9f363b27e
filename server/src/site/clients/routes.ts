import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { Problem } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag, preferredEncoding } from '../../http/headers.ts'
import { html, PAGE_HEADERS } from '../../http/pages/html.ts'
import { plainPage } from '../../http/pages/page-layout.ts'
import { type ClientFile, ClientFiles, MODULE, NPM_PACKAGE, WHEEL } from './client-files.ts'

interface ClientDeps {
  about: About
  authenticate: Authenticate
  baseUrl: BaseUrl
}

const NOT_BUILT =
  'The clients are not packed in this installation. `npm run clients` in its folder packs them.'

/**
 * The clients for Python and JavaScript, which fit the version of this instance: packages that pip and npm install from
 * here, and a module that web pages import from here.
 */
export function clientRoutes(
  app: App,
  { authenticate, baseUrl, about }: ClientDeps,
  files: ClientFiles = new ClientFiles(),
): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply) => authenticate.anonymous(request, reply)
  const hidden = { onRequest, schema: { hide: true } }

  app.get('/clients', hidden, async (request, reply) => {
    const [wheel, npmPackage] = await Promise.all([files.read(WHEEL), files.read(NPM_PACKAGE)])
    if (!wheel || !npmPackage) throw new Problem('not-found', NOT_BUILT)
    reply.headers(PAGE_HEADERS).header('cache-control', 'no-cache')
    return reply.send(clientsPage(about, baseUrl.of(request), wheel, npmPackage))
  })

  app.get<{ Params: { name: string } }>('/clients/:name', hidden, async (request, reply) => {
    const { name } = request.params
    if (name !== WHEEL && name !== NPM_PACKAGE)
      throw new Problem('not-found', `This instance has ${WHEEL} and ${NPM_PACKAGE}.`)
    return send(request, reply, await files.read(name), 3600)
  })

  // The address has no version: a page that imports it gets the module of a new release within five minutes.
  for (const name of [MODULE, `${MODULE}.map`]) {
    app.get(`/${name}`, hidden, async (request, reply) => send(request, reply, await files.read(name), 300))
  }
}

function send(request: FastifyRequest, reply: FastifyReply, file: ClientFile | undefined, seconds: number) {
  if (!file) throw new Problem('not-found', NOT_BUILT)
  const digest = file.sha256.toString('base64')
  const isGzipped =
    file.gzipped !== null && preferredEncoding(request.headers['accept-encoding'], ['gzip']) === 'gzip'
  const etag = `"${file.sha256.toString('hex').slice(0, 32)}${isGzipped ? '-gzip' : ''}"`
  reply.header('cache-control', `public, max-age=${seconds}`).header('etag', etag)
  if (file.gzipped) reply.header('vary', 'Accept-Encoding')
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
  reply.header('content-type', file.mediaType)
  if (isGzipped) return reply.header('content-encoding', 'gzip').send(file.gzipped)
  return reply.header('repr-digest', `sha-256=:${digest}:`).send(file.bytes)
}

/** The links have checksums, so that the page also works as an index: `pip install --find-links`. */
function clientsPage(about: About, base: string, wheel: ClientFile, npmPackage: ClientFile): string {
  const link = ({ name, bytes, sha256 }: ClientFile) =>
    html`<a href="/clients/${name}#sha256=${sha256.toString('hex')}">${name}</a> (${Math.ceil(bytes.length / 1024)} KB)`
  const content = html`<h1>Clients</h1>
<p>Libraries that read the datasets of this instance. They have the same version as the instance.</p>
<h2>Python</h2>
<div class="code"><pre><code>pip install "wayleave[geo] @ ${base}/clients/${wheel.name}"</code></pre></div>
<p>${link(wheel)}. See <a href="/docs/python">Python</a>.</p>
<h2>JavaScript</h2>
<div class="code"><pre><code>npm install ${base}/clients/${npmPackage.name}</code></pre></div>
<p>${link(npmPackage)}. In a page without a bundler:</p>
<div class="code"><pre><code>import { Wayleave } from "${base}/client.js"</code></pre></div>
<p>See <a href="/docs/javascript">JavaScript</a>.</p>`
  return plainPage({ about, title: 'Clients', content })
}
