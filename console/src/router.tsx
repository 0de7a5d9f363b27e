import { createBrowserRouter, Navigate, type RouteObject } from 'react-router'
import { Frame } from './components/frame.tsx'
import { PageFailure } from './components/page-failure.tsx'
import { SignedIn } from './components/signed-in.tsx'
import { CatalogPage } from './pages/catalog-page.tsx'
import { InvitationPage } from './pages/invitation-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { SignInPage } from './pages/sign-in-page.tsx'
import { StartPage } from './pages/start-page.tsx'

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
      { path: '/datasets', Component: CatalogPage },
      {
        path: '/datasets/:table',
        lazy: async () => ({ Component: (await import('./pages/dataset-page.tsx')).DatasetPage }),
      },
      {
        Component: SignedIn,
        children: [
          {
            path: '/getting-started',
            lazy: async () => ({
              Component: (await import('./pages/getting-started-page.tsx')).GettingStartedPage,
            }),
          },
          {
            path: '/keys',
            lazy: async () => ({ Component: (await import('./pages/keys-page.tsx')).KeysPage }),
          },
          {
            path: '/keys/:keyId',
            lazy: async () => ({ Component: (await import('./pages/key-page.tsx')).KeyPage }),
          },
          {
            path: '/organization',
            lazy: async () => ({
              Component: (await import('./pages/organization-page.tsx')).OrganizationPage,
            }),
            children: [
              { index: true, element: <Navigate to="members" replace /> },
              {
                path: 'members',
                lazy: async () => ({ Component: (await import('./pages/members-page.tsx')).MembersPage }),
              },
              {
                path: 'access',
                lazy: async () => ({ Component: (await import('./pages/access-page.tsx')).AccessPage }),
              },
              {
                path: 'usage',
                lazy: async () => ({
                  Component: (await import('./pages/organization-usage-page.tsx')).OrganizationUsagePage,
                }),
              },
              {
                path: 'credits',
                lazy: async () => ({ Component: (await import('./pages/credits-page.tsx')).CreditsPage }),
              },
              {
                path: 'events',
                lazy: async () => ({ Component: (await import('./pages/events-page.tsx')).EventsPage }),
              },
            ],
          },
          {
            path: '/administration',
            lazy: async () => ({
              Component: (await import('./pages/administration-page.tsx')).AdministrationPage,
            }),
            children: [
              {
                index: true,
                lazy: async () => ({ Component: (await import('./pages/dashboard-page.tsx')).DashboardPage }),
              },
              {
                path: 'requests',
                lazy: async () => ({ Component: (await import('./pages/requests-page.tsx')).RequestsPage }),
              },
              {
                path: 'organizations/:organizationId',
                lazy: async () => ({
                  Component: (await import('./pages/admin-organization-page.tsx')).AdminOrganizationPage,
                }),
              },
              {
                path: 'users/:userId',
                lazy: async () => ({
                  Component: (await import('./pages/admin-user-page.tsx')).AdminUserPage,
                }),
              },
              {
                path: 'organizations',
                lazy: async () => ({
                  Component: (await import('./pages/organizations-page.tsx')).OrganizationsPage,
                }),
              },
              {
                path: 'users',
                lazy: async () => ({ Component: (await import('./pages/users-page.tsx')).UsersPage }),
              },
              {
                path: 'keys',
                lazy: async () => ({
                  Component: (await import('./pages/platform-keys-page.tsx')).PlatformKeysPage,
                }),
              },
              {
                path: 'datasets',
                lazy: async () => ({
                  Component: (await import('./pages/published-datasets-page.tsx')).PublishedDatasetsPage,
                }),
              },
              {
                path: 'publish',
                lazy: async () => ({ Component: (await import('./pages/publish-page.tsx')).PublishPage }),
              },
              {
                path: 'jobs',
                lazy: async () => ({ Component: (await import('./pages/jobs-page.tsx')).JobsPage }),
              },
              {
                path: 'addresses',
                lazy: async () => ({ Component: (await import('./pages/addresses-page.tsx')).AddressesPage }),
              },
              {
                path: 'events',
                lazy: async () => ({
                  Component: (await import('./pages/platform-events-page.tsx')).PlatformEventsPage,
                }),
              },
            ],
          },
          {
            path: '/administration/keys/:keyId',
            lazy: async () => ({ Component: (await import('./pages/key-page.tsx')).PlatformKeyPage }),
          },
        ],
      },
      { path: '*', Component: NotFoundPage },
    ],
  },
]

export const router = createBrowserRouter(routes)
