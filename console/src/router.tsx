import { createBrowserRouter, Navigate, type RouteObject } from 'react-router'
import { Frame } from './components/page/frame.tsx'
import { PageFailure } from './components/page/page-failure.tsx'
import { SignedIn } from './components/page/signed-in.tsx'
import { CatalogPage } from './pages/catalog-page.tsx'
import { InvitationPage } from './pages/invitation-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { SignInPage } from './pages/sign-in-page.tsx'
import { StartPage } from './pages/start-page.tsx'
import { UnsubscribePage } from './pages/unsubscribe-page.tsx'

/** Every page of the console. The server serves the console at these paths and at no others. */
const routes: RouteObject[] = [
  {
    Component: Frame,
    HydrateFallback: () => null,
    ErrorBoundary: PageFailure,
    children: [
      { path: '/', Component: StartPage },
      { path: '/sign-in', Component: SignInPage },
      { path: '/invitation', Component: InvitationPage },
      { path: '/unsubscribe', Component: UnsubscribePage },
      { path: '/datasets', Component: CatalogPage },
      {
        path: '/datasets/:table',
        lazy: async () => ({ Component: (await import('./pages/dataset-page.tsx')).DatasetPage }),
      },
      {
        Component: SignedIn,
        children: [
          {
            path: '/connect',
            lazy: async () => ({ Component: (await import('./pages/connect-page.tsx')).ConnectPage }),
          },
          {
            path: '/getting-started',
            lazy: async () => ({
              Component: (await import('./pages/organization/getting-started-page.tsx')).GettingStartedPage,
            }),
          },
          {
            path: '/account',
            lazy: async () => ({ Component: (await import('./pages/account-page.tsx')).AccountPage }),
          },
          {
            path: '/keys',
            lazy: async () => ({ Component: (await import('./pages/organization/keys-page.tsx')).KeysPage }),
          },
          {
            path: '/keys/:keyId',
            lazy: async () => ({ Component: (await import('./pages/organization/key-page.tsx')).KeyPage }),
          },
          {
            path: '/organization',
            lazy: async () => ({
              Component: (await import('./pages/organization/organization-page.tsx')).OrganizationPage,
            }),
            children: [
              { index: true, element: <Navigate to="members" replace /> },
              {
                path: 'members',
                lazy: async () => ({
                  Component: (await import('./pages/organization/members-page.tsx')).MembersPage,
                }),
              },
              {
                path: 'access',
                lazy: async () => ({
                  Component: (await import('./pages/organization/access-page.tsx')).AccessPage,
                }),
              },
              {
                path: 'data',
                lazy: async () => ({
                  Component: (await import('./pages/organization/data-page.tsx')).DataPage,
                }),
              },
              {
                path: 'publish',
                lazy: async () => ({
                  Component: (await import('./pages/administration/publish-page.tsx')).PublishPage,
                }),
              },
              {
                path: 'usage',
                lazy: async () => ({
                  Component: (await import('./pages/organization/organization-usage-page.tsx'))
                    .OrganizationUsagePage,
                }),
              },
              {
                path: 'credits',
                lazy: async () => ({
                  Component: (await import('./pages/organization/credits-page.tsx')).CreditsPage,
                }),
              },
              {
                path: 'billing',
                lazy: async () => ({
                  Component: (await import('./pages/organization/billing-page.tsx')).BillingPage,
                }),
              },
              {
                path: 'events',
                lazy: async () => ({
                  Component: (await import('./pages/organization/events-page.tsx')).EventsPage,
                }),
              },
              {
                path: 'webhooks',
                lazy: async () => ({
                  Component: (await import('./pages/organization/webhooks-page.tsx')).WebhooksPage,
                }),
              },
              {
                path: 'webhooks/:webhookId',
                lazy: async () => ({
                  Component: (await import('./pages/organization/webhooks-page.tsx')).WebhookPage,
                }),
              },
              {
                path: 'notices',
                lazy: async () => ({
                  Component: (await import('./pages/organization/notices-page.tsx')).NoticesPage,
                }),
              },
            ],
          },
          {
            path: '/administration',
            lazy: async () => ({
              Component: (await import('./pages/administration/administration-page.tsx')).AdministrationPage,
            }),
            children: [
              {
                index: true,
                lazy: async () => ({
                  Component: (await import('./pages/administration/dashboard-page.tsx')).DashboardPage,
                }),
              },
              {
                path: 'requests',
                lazy: async () => ({
                  Component: (await import('./pages/administration/requests-page.tsx')).RequestsPage,
                }),
              },
              {
                path: 'organizations/:organizationId',
                lazy: async () => ({
                  Component: (await import('./pages/administration/admin-organization-page.tsx'))
                    .AdminOrganizationPage,
                }),
              },
              {
                path: 'users/:userId',
                lazy: async () => ({
                  Component: (await import('./pages/administration/admin-user-page.tsx')).AdminUserPage,
                }),
              },
              {
                path: 'organizations',
                lazy: async () => ({
                  Component: (await import('./pages/administration/organizations-page.tsx'))
                    .OrganizationsPage,
                }),
              },
              {
                path: 'users',
                lazy: async () => ({
                  Component: (await import('./pages/administration/users-page.tsx')).UsersPage,
                }),
              },
              {
                path: 'keys',
                lazy: async () => ({
                  Component: (await import('./pages/administration/platform-keys-page.tsx')).PlatformKeysPage,
                }),
              },
              {
                path: 'datasets',
                lazy: async () => ({
                  Component: (await import('./pages/administration/published-datasets-page.tsx'))
                    .PublishedDatasetsPage,
                }),
              },
              {
                path: 'publish',
                lazy: async () => ({
                  Component: (await import('./pages/administration/publish-page.tsx')).PublishPage,
                }),
              },
              {
                path: 'jobs',
                lazy: async () => ({
                  Component: (await import('./pages/administration/jobs-page.tsx')).JobsPage,
                }),
              },
              {
                path: 'products',
                lazy: async () => ({
                  Component: (await import('./pages/administration/products-page.tsx')).ProductsPage,
                }),
              },
              {
                path: 'orders',
                lazy: async () => ({
                  Component: (await import('./pages/administration/orders-page.tsx')).OrdersPage,
                }),
              },
              {
                path: 'revenue',
                lazy: async () => ({
                  Component: (await import('./pages/administration/revenue-page.tsx')).RevenuePage,
                }),
              },
              {
                path: 'addresses',
                lazy: async () => ({
                  Component: (await import('./pages/administration/addresses-page.tsx')).AddressesPage,
                }),
              },
              {
                path: 'webhooks',
                lazy: async () => ({
                  Component: (await import('./pages/organization/webhooks-page.tsx')).PlatformWebhooksPage,
                }),
              },
              {
                path: 'webhooks/:webhookId',
                lazy: async () => ({
                  Component: (await import('./pages/organization/webhooks-page.tsx')).PlatformWebhookPage,
                }),
              },
              {
                path: 'events',
                lazy: async () => ({
                  Component: (await import('./pages/administration/platform-events-page.tsx'))
                    .PlatformEventsPage,
                }),
              },
            ],
          },
          {
            path: '/administration/keys/:keyId',
            lazy: async () => ({
              Component: (await import('./pages/organization/key-page.tsx')).PlatformKeyPage,
            }),
          },
        ],
      },
      { path: '*', Component: NotFoundPage },
    ],
  },
]

export const router = createBrowserRouter(routes)
