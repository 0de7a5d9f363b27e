import { accessRequestRoutes } from '../accounts/access-requests/access-request-routes.ts'
import { operatorRoutes } from '../accounts/administration/operator-routes.ts'
import { organizationAdministrationRoutes } from '../accounts/administration/organization-routes.ts'
import { administrationRoutes } from '../accounts/administration/routes.ts'
import { creditRoutes } from '../accounts/credits/routes.ts'
import { signInRoutes } from '../accounts/identity/routes.ts'
import { keyRoutes } from '../accounts/keys/routes.ts'
import { eventRoutes } from '../accounts/organizations/event-routes.ts'
import { organizationRoutes } from '../accounts/organizations/routes.ts'
import { usageRoutes } from '../accounts/usage/routes.ts'
import { version } from '../base/version.ts'
import { metadataRoute } from '../data/catalog/metadata-route.ts'
import { catalogRoutes } from '../data/catalog/routes.ts'
import { downloadRoutes } from '../data/downloads/routes.ts'
import { publishingRoutes } from '../data/publishing/routes.ts'
import { jobRoutes } from '../data/publishing/upload-jobs/job-routes.ts'
import { aboutOf } from '../http/about.ts'
import { createFastifyApp } from '../http/create-fastify-app.ts'
import type { App } from '../http/fastify-app.ts'
import { refuseShadowedMethods } from '../http/hooks/missing-routes.ts'
import { operationRoutes } from '../http/observability/operation-routes.ts'
import type { RouteTable } from '../http/route-table.ts'
import { addDataRoute, HandedOver } from '../http/sockets/fastify-transport.ts'
import { SocketTransport } from '../http/sockets/socket-transport.ts'
import { documentRoutes } from '../ogc/documents/document-routes.ts'
import { itemRoute } from '../ogc/items/item-route.ts'
import { itemsRoute } from '../ogc/items/items-route.ts'
import { recordRoutes } from '../ogc/records/record-routes.ts'
import { ogcRoutes } from '../ogc/routes.ts'
import { previewRoutes } from '../ogc/tiles/previews/preview-routes.ts'
import { tileRoute, tileRoutes } from '../ogc/tiles/tile-routes.ts'
import { dashboardRoutes } from '../operation/dashboard/dashboard-routes.ts'
import { clientRoutes } from '../site/clients/routes.ts'
import { consoleRoutes } from '../site/console/routes.ts'
import { discoveryRoutes, pageHeads } from '../site/discovery/routes.ts'
import { definitionRoutes } from '../site/documentation/definition-routes.ts'
import { documentationRoutes } from '../site/documentation/routes.ts'
import { siteRoutes } from '../site/styles/site-routes.ts'
import type { Parts } from './wiring.ts'

/** Registers the routes of the whole service. Reads like a table of contents. */
export async function buildApp(parts: Parts): Promise<{ app: App; routes: RouteTable }> {
  const { app, routes } = await createFastifyApp(parts)

  operationRoutes(app, {
    metrics: parts.metrics,
    metricsToken: parts.config.metricsToken,
    checkReady: parts.checkReady,
    isDraining: () => parts.overload.isDraining(),
    version,
    clock: parts.clock,
    countDatasets: async () => (await parts.catalog.all()).length,
    about: aboutOf(parts.config),
  })

  if (parts.config.role === 'worker') {
    await app.ready()
    return { app, routes }
  }

  catalogRoutes(app, parts)
  const ogc = { ...parts, about: aboutOf(parts.config), keyInUrl: parts.config.keyInUrl }
  ogcRoutes(app, ogc)
  tileRoutes(app, ogc)
  previewRoutes(app, parts)
  recordRoutes(app, ogc)
  publishingRoutes(app, parts)
  jobRoutes(app, parts)
  downloadRoutes(app, parts)
  signInRoutes(app, { ...parts, addressRate: parts.config.signInAddressRate })
  organizationRoutes(app, parts)
  eventRoutes(app, parts)
  accessRequestRoutes(app, parts)
  keyRoutes(app, parts)
  usageRoutes(app, parts)
  creditRoutes(app, parts)
  administrationRoutes(app, parts)
  organizationAdministrationRoutes(app, parts)
  operatorRoutes(app, parts)
  dashboardRoutes(app, parts)

  const discovery = { ...parts, about: aboutOf(parts.config) }
  const { about } = discovery
  siteRoutes(app, parts.config)
  consoleRoutes(app, { headOf: pageHeads(discovery), about, basemap: parts.config.basemap })
  discoveryRoutes(app, discovery)
  clientRoutes(app, discovery)
  documentationRoutes(app, { about, baseUrl: parts.baseUrl })
  definitionRoutes(app, parts)

  const dataRoutes = [
    itemsRoute(ogc),
    tileRoute(ogc),
    itemRoute(ogc),
    metadataRoute(parts),
    ...documentRoutes(ogc),
  ]
  const handedOver = new HandedOver()
  for (const route of dataRoutes) addDataRoute(app, route, handedOver)

  refuseShadowedMethods(app, routes)

  await app.ready()
  if (parts.config.socketTransport) new SocketTransport(parts, dataRoutes, handedOver).precede(app.server)
  return { app, routes }
}
