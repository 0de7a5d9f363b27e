import type { App } from '../http/fastify-app.ts'

interface Documented {
  template: RegExp
  method: string
  statuses: ReadonlySet<string>
}

/** By whether the server has the routes of data. All servers with the same role have the same definition. */
const definitions = new Map<boolean, Promise<Documented[]>>()

/** Throws if the API definition has the operation but not the status that it responded with. */
export async function requireDocumentedStatus(
  app: App,
  method: string,
  path: string,
  status: number,
): Promise<void> {
  if (status === 405) return
  const bare = path.split('?', 1)[0]!
  const hasData = app.hasRoute({ method: 'GET', url: '/v1/datasets' })
  const reading = definitions.get(hasData) ?? readDefinition(app)
  definitions.set(hasData, reading)
  const operations = await reading
  const documentedMethod = method === 'HEAD' ? 'GET' : method
  const operation = operations.find((one) => one.method === documentedMethod && one.template.test(bare))
  if (operation && !operation.statuses.has(String(status))) {
    throw new Error(
      `${method} ${bare} responded ${status}, which /v1/openapi.json does not document: declare the problem in the route's schema ("problems").`,
    )
  }
}

async function readDefinition(app: App): Promise<Documented[]> {
  const { paths } = await app.apiDefinition()
  const fixedFirst = Object.entries(paths).sort(([a], [b]) => a.split('{').length - b.split('{').length)
  return fixedFirst.flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { responses }]) => ({
      template: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      method: method.toUpperCase(),
      statuses: new Set(Object.keys(responses)),
    })),
  )
}
