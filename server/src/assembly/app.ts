import { accessRequestRoutes } from '../accounts/access-requests/access-request-routes.ts'
import { accountRoutes } from '../accounts/administration/account-routes.ts'
import { operatorRoutes } from '../accounts/administration/operator-routes.ts'
import { organizationAdministrationRoutes } from '../accounts/administration/organization-routes.ts'
import { administrationRoutes } from '../accounts/administration/routes.ts'
import { billingAdministrationRoutes } from '../accounts/billing/admin-routes.ts'
import { reportRoutes } from '../accounts/billing/report-routes.ts'
import { billingRoutes } from '../accounts/billing/routes.ts'
import { stripeRoutes } from '../accounts/billing/stripe-routes.ts'
import { creditRoutes } from '../accounts/credits/routes.ts'
import { honourIdempotencyKeys } from '../accounts/idempotency/idempotent-routes.ts'
import { signInRoutes } from '../accounts/identity/routes.ts'
import { keyRoutes } from '../accounts/keys/routes.ts'
import { noticeRoutes } from '../accounts/notices/routes.ts'
import { eventRoutes } from '../accounts/organizations/event-routes.ts'
import { organizationRoutes } from '../accounts/organizations/routes.ts'
import { keyRequestRoutes } from '../accounts/request-log/routes.ts'
import { usageRoutes } from '../accounts/usage/routes.ts'
import { webhookRoutes } from '../accounts/webhooks/routes.ts'
import { mcpRoutes } from '../assistants/mcp-routes.ts'
import { assistantSignInRoutes } from '../assistants/sign-in/routes.ts'
import { version } from '../base/version.ts'
import { metadataRoute } from '../data/catalog/metadata-route.ts'
import { catalogRoutes } from '../data/catalog/routes.ts'
import { downloadRoutes } from '../data/downloads/routes.ts'
import { grantRoutes } from '../data/grants/routes.ts'
import { publishingRoutes } from '../data/publishing/routes.ts'
import { jobRoutes } from '../data/publishing/upload-jobs/job-routes.ts'
import { sourceRoutes } from '../data/sources/source-routes.ts'
import { aboutOf } from '../http/about.ts'
import { createFastifyApp } from '../http/create-fastify-app.ts'
import type { App } from '../http/fastify-app.ts'
import { refuseShadowedMethods } from '../http/hooks/missing-routes.ts'
import { operationRoutes } from '../http/observability/operation-routes.ts'
import type { RouteTable } from '../http/route-table.ts'
import { addDataRoute, HandedOver } from '../http/sockets/fastify-transport.ts'
import { SocketTransport } from '../http/sockets/socket-transport.ts'
import { apiDefinition } from '../ogc/documents/api-definition.ts'
import { documentRoutes } from '../ogc/documents/document-routes.ts'
import { itemRoute } from '../ogc/items/item-route.ts'
import { itemsRoute } from '../ogc/items/items-route.ts'
import { recordRoutes } from '../ogc/records/record-routes.ts'
import { ogcRoutes } from '../ogc/routes.ts'
import { previewRoutes } from '../ogc/tiles/previews/preview-routes.ts'
import { tileRoute, tileRoutes } from '../ogc/tiles/tile-routes.ts'
import { ROOT } from '../ogc/write/links.ts'
import { dashboardRoutes } from '../operation/dashboard/dashboard-routes.ts'
import { basemapRoutes } from '../site/basemap/basemap-routes.ts'
import { clientRoutes } from '../site/clients/routes.ts'
import { consoleRoutes } from '../site/console/routes.ts'
import { discoveryRoutes, pageHeads } from '../site/discovery/routes.ts'
import { definitionRoutes } from '../site/documentation/definition-routes.ts'
import { documentationRoutes } from '../site/documentation/routes.ts'
import { referenceRoutes } from '../site/reference/routes.ts'
import { siteRoutes } from '../site/styles/site-routes.ts'
import type { Parts } from './wiring.ts'

/** Registers the routes of the whole service, wing by wing. */
export async function buildApp(parts: Parts): Promise<{ app: App; routes: RouteTable }> {
  const { app, routes } = await createFastifyApp(parts)
  stateOfTheNode(app, parts)
  if (parts.config.role === 'worker') {
    await app.ready()
    return { app, routes }
  }

  data(app, parts)
  ogc(app, parts)
  accounts(app, parts)
  operation(app, parts)
  assistants(app, parts)
  site(app, parts)

  const handedOver = new HandedOver()
  const fromMemory = dataRoutes(parts)
  for (const route of fromMemory) addDataRoute(app, route, handedOver)
  refuseShadowedMethods(app, routes)
  await app.ready()
  if (parts.config.socketTransport) new SocketTransport(parts, fromMemory, handedOver).precede(app.server)
  return { app, routes }
}

/** The only routes of a worker. */
function stateOfTheNode(app: App, parts: Parts): void {
  operationRoutes(app, {
    metrics: parts.metrics,
    metricsToken: parts.config.metricsToken,
    checkReady: parts.checkReady,
    isDraining: () => parts.overload.isDraining(),
    version,
    clock: parts.clock,
    countDatasets: async () => (await parts.catalog.allFor(null)).length,
    about: aboutOf(parts.config),
  })
}

function data(app: App, parts: Parts): void {
  catalogRoutes(app, parts)
  publishingRoutes(app, parts)
  jobRoutes(app, parts)
  sourceRoutes(app, parts)
  grantRoutes(app, parts)
  downloadRoutes(app, parts)
}

function ogc(app: App, parts: Parts): void {
  const deps = ogcDeps(parts)
  ogcRoutes(app, deps)
  tileRoutes(app, deps)
  previewRoutes(app, parts)
  recordRoutes(app, deps)
}

function accounts(app: App, parts: Parts): void {
  honourIdempotencyKeys(app, parts)
  signInRoutes(app, { ...parts, addressRate: parts.config.signInAddressRate })
  organizationRoutes(app, parts)
  eventRoutes(app, parts)
  accessRequestRoutes(app, parts)
  keyRoutes(app, parts)
  usageRoutes(app, parts)
  keyRequestRoutes(app, parts)
  creditRoutes(app, parts)
  webhookRoutes(app, parts)
  noticeRoutes(app, parts)
  billingRoutes(app, parts)
  billingAdministrationRoutes(app, parts)
  stripeRoutes(app, parts)
  reportRoutes(app, parts)
  administrationRoutes(app, parts)
  organizationAdministrationRoutes(app, parts)
  operatorRoutes(app, parts)
  accountRoutes(app, parts)
}

function assistants(app: App, parts: Parts): void {
  const deps = { ...parts, about: aboutOf(parts.config) }
  mcpRoutes(app, deps)
  assistantSignInRoutes(app, deps)
}

function operation(app: App, parts: Parts): void {
  dashboardRoutes(app, parts)
}

function site(app: App, parts: Parts): void {
  const about = aboutOf(parts.config)
  const discovery = { ...parts, about }
  siteRoutes(app, parts.config)
  basemapRoutes(app, parts)
  consoleRoutes(app, { headOf: pageHeads(discovery), about, basemap: parts.config.basemap })
  discoveryRoutes(app, discovery)
  clientRoutes(app, discovery)
  documentationRoutes(app, { about, baseUrl: parts.baseUrl })
  const ogcDefinition = () => apiDefinition('', { ...parts, datasets: [], version, about })
  referenceRoutes(app, { about, baseUrl: parts.baseUrl, ogcRoot: ROOT, ogcDefinition })
  definitionRoutes(app, parts)
}

/** Routes that can often respond from memory, before Fastify sees the request. */
function dataRoutes(parts: Parts) {
  const deps = ogcDeps(parts)
  return [itemsRoute(deps), tileRoute(deps), itemRoute(deps), metadataRoute(parts), ...documentRoutes(deps)]
}

function ogcDeps(parts: Parts) {
  return { ...parts, about: aboutOf(parts.config) }
}
