import { setImmediate } from 'node:timers/promises'
import fastify, { type RouteOptions } from 'fastify'
import type { About } from './about.ts'
import type { App } from './fastify-app.ts'
import { type Definition, openApiOptions } from './openapi.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The API definition without `servers`. It is made when it is first asked for. */
    apiDefinition(): Promise<Definition>
  }
}

type RegisteredRoute = Pick<RouteOptions, 'method' | 'url' | 'schema'>

/** After so many routes, other requests are served first. */
const BATCH = 12

/** Remembers the schemas of all routes that are registered after this call, and describes them on demand. */
export function addApiDefinition(app: App, about: About): void {
  const routes: RegisteredRoute[] = []
  // The route itself is kept: later hooks may replace its schema.
  app.addHook('onRoute', (route) => void routes.push(route))
  let definition: Promise<Definition> | undefined
  app.decorate('apiDefinition', () => {
    definition ??= describeRoutes(routes, about)
    return definition
  })
}

/**
 * Describes the routes by @fastify/swagger. To describe all of them at once would hold up other requests, so a few at a
 * time are registered with an app of their own. The plugin is only loaded if it is used: few processes need it.
 */
async function describeRoutes(all: readonly RegisteredRoute[], about: About): Promise<Definition> {
  const { default: swagger } = await import('@fastify/swagger')
  const routes = all.filter(({ method, schema }) => method !== 'HEAD' && schema?.tags && !schema.hide)
  let whole: Definition | undefined
  for (let from = 0; from < routes.length || whole === undefined; from += BATCH) {
    const app = fastify({ exposeHeadRoutes: false })
    app.setValidatorCompiler(() => () => true)
    app.setSerializerCompiler(() => JSON.stringify)
    await app.register(swagger, openApiOptions(about))
    for (const { method, url, schema } of routes.slice(from, from + BATCH))
      app.route({ method, url, schema: schema!, handler: () => {} })
    await app.ready()
    const part = app.swagger() as unknown as Definition
    whole = whole === undefined ? part : merged(whole, part)
    await setImmediate()
  }
  return whole
}

/** The methods of one path may be in both. */
function merged(one: Definition, other: Definition): Definition {
  const paths = { ...one.paths }
  for (const [path, operations] of Object.entries(other.paths))
    paths[path] = { ...paths[path], ...operations }
  const [components, more] = [one.components, other.components]
  const responses = { ...components.responses, ...more.responses }
  const schemas = { ...components.schemas, ...more.schemas }
  return { ...one, paths, components: { ...components, schemas, responses } }
}
