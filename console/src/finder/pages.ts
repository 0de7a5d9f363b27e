import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Me } from '@wayleave/contract/records'
import { isPublisher } from '../datasets/may-change.ts'

/** A part of the pages of an organization or of the administration. */
export interface PagePart {
  /** The end of its address; empty for the first part. */
  path: string
  title: string
  /** The heading that it stands under, beside the page. */
  group: string
  /** The permission that a member needs to see it. */
  needs?: MemberPermission
  isForPublishers?: true
  /** Whether it is only there if credits and plans can be bought. */
  isForSale?: true
}

const ORGANIZATION_PARTS: readonly PagePart[] = [
  { path: 'members', group: 'Organization', title: 'Members' },
  { path: 'access', group: 'Organization', title: 'Access' },
  { path: 'data', group: 'Organization', title: 'Data', needs: 'DATASET_PUBLISH', isForPublishers: true },
  { path: 'usage', group: 'Use and cost', title: 'Usage', needs: 'BILLING_VIEW' },
  { path: 'credits', group: 'Use and cost', title: 'Credits', needs: 'BILLING_VIEW' },
  {
    path: 'billing',
    group: 'Use and cost',
    title: 'Plans and credits',
    needs: 'BILLING_VIEW',
    isForSale: true,
  },
  { path: 'events', group: 'Activity', title: 'Events', needs: 'MEMBER_MANAGE' },
  { path: 'webhooks', group: 'Activity', title: 'Webhooks', needs: 'MEMBER_MANAGE' },
  { path: 'notices', group: 'Activity', title: 'Notices' },
]

const ADMINISTRATION_PARTS: readonly PagePart[] = [
  { path: '', group: 'Service', title: 'Dashboard' },
  { path: 'requests', group: 'Service', title: 'Requests' },
  { path: 'organizations', group: 'Accounts', title: 'Organizations' },
  { path: 'users', group: 'Accounts', title: 'Users' },
  { path: 'keys', group: 'Accounts', title: 'Platform keys' },
  { path: 'addresses', group: 'Accounts', title: 'Addresses' },
  { path: 'datasets', group: 'Data', title: 'Datasets' },
  { path: 'publish', group: 'Data', title: 'Publish' },
  { path: 'jobs', group: 'Data', title: 'Jobs' },
  { path: 'products', group: 'Sales', title: 'Products', isForSale: true },
  { path: 'orders', group: 'Sales', title: 'Orders', isForSale: true },
  { path: 'revenue', group: 'Sales', title: 'Revenue', isForSale: true },
  { path: 'webhooks', group: 'Activity', title: 'Webhooks' },
  { path: 'events', group: 'Activity', title: 'Events' },
]

/** The part that a page of the organization belongs to: the form that publishes is one of the data. */
export function organizationPart(name: string): PagePart | undefined {
  return ORGANIZATION_PARTS.find(({ path }) => path === (name === 'publish' ? 'data' : name))
}

/** The parts of the organization's pages that a user may see. */
export function organizationParts(me: Me | undefined, sells: boolean): PagePart[] {
  const permissions = me?.organization?.permissions ?? []
  return ORGANIZATION_PARTS.filter(
    ({ needs, isForPublishers, isForSale }) =>
      (!needs || permissions.includes(needs)) &&
      (!isForPublishers || isPublisher(me)) &&
      (!isForSale || sells),
  )
}

export function administrationParts(sells: boolean): PagePart[] {
  return ADMINISTRATION_PARTS.filter(({ isForSale }) => !isForSale || sells)
}

/** Whether a part is the first one of its group. */
export function startsGroup(parts: readonly PagePart[], index: number): boolean {
  return parts[index]!.group !== parts[index - 1]?.group
}

/** An address with a title, and where it belongs to. */
export interface Place {
  to: string
  title: string
  group: string
}

/** All pages that a user may see; without a user, those for everybody. */
export function pagesFor(me: Me | undefined, sells: boolean): Place[] {
  const placesOf = (group: string, root: string, parts: readonly PagePart[]) =>
    parts.map(({ path, title }) => ({ to: path === '' ? root : `${root}/${path}`, title, group }))
  const page = (to: string, title: string, group = 'Page'): Place => ({ to, title, group })
  return [
    page('/datasets', 'All datasets'),
    ...(me ? [page('/keys', 'Keys'), page('/account', 'Account')] : [page('/sign-in', 'Sign in')]),
    ...(me?.organization
      ? [
          page('/getting-started', 'Getting started'),
          ...placesOf('Organization', '/organization', organizationParts(me, sells)),
        ]
      : []),
    ...(isPublisher(me) ? [page('/organization/publish', 'Publish a dataset', 'Organization')] : []),
    ...(me?.administrator ? placesOf('Administration', '/administration', administrationParts(sells)) : []),
    page('/docs', 'Documentation', 'Docs'),
    page('/docs/api', 'API reference', 'Docs'),
    page('/docs/gallery', 'Gallery', 'Docs'),
    page('/status', 'Status of the service', 'Docs'),
  ]
}
