/** A page of the reference: operations that are used together. */
export interface Group {
  name: string
  title: string
  about: string
}

/** The pages in the order in which a new user needs them. */
export const GROUPS: readonly Group[] = [
  { name: 'catalog', title: 'Catalog', about: 'Which datasets there are, and what is known about each.' },
  {
    name: 'data',
    title: 'Downloads',
    about: 'Whole datasets and their versions as files, and the changes between them.',
  },
  {
    name: 'features',
    title: 'Features',
    about:
      'Rows by area, time, property and CQL2 filter, aggregates and extracts. This is the part of the OGC API that programs use most.',
  },
  {
    name: 'tiles',
    title: 'Tiles and documents',
    about: 'Vector tiles, styles, schemas and the other documents of the OGC API.',
  },
  { name: 'keys', title: 'API keys', about: 'Create, rotate and revoke the keys that programs send.' },
  { name: 'sign-in', title: 'Sign-in', about: 'Tokens for people, by a mailed link or by single sign-on.' },
  {
    name: 'organizations',
    title: 'Organizations',
    about: 'Members, invitations, credits, usage and the audit log.',
  },
  {
    name: 'webhooks',
    title: 'Webhooks and notices',
    about: 'Messages to your own servers, and mails to members.',
  },
  { name: 'billing', title: 'Billing', about: 'Credit packs, plans, orders and invoices.' },
  {
    name: 'publishing',
    title: 'Publishing',
    about: 'Files become datasets and new versions of them.',
  },
  {
    name: 'sources',
    title: 'Sources and grants',
    about: 'Addresses from which datasets are kept current, and who may have a dataset.',
  },
  {
    name: 'administration',
    title: 'Administration',
    about: 'For the people who run the service: requests for access, events, products and blocked networks.',
  },
  {
    name: 'admin-organizations',
    title: 'Administration of organizations',
    about: 'Create, change, suspend and delete organizations, and grant them credits.',
  },
  {
    name: 'admin-users',
    title: 'Administration of users',
    about: 'Block and delete users, and end their sessions.',
  },
  {
    name: 'platform',
    title: 'Platform keys and webhooks',
    about: 'Keys and webhooks of the service itself.',
  },
  { name: 'operation', title: 'Operation', about: 'For monitoring and load balancers.' },
]

const BY_TAG: Record<string, string> = {
  Data: 'data',
  Catalog: 'catalog',
  'API keys': 'keys',
  'Sign-in': 'sign-in',
  Billing: 'billing',
  Publishing: 'publishing',
  Operation: 'operation',
  Features: 'features',
  Tiles: 'tiles',
  Capabilities: 'tiles',
}

/** By the word after `/v1/admin/`. */
const ADMINISTRATION: Record<string, string> = {
  keys: 'platform',
  webhooks: 'platform',
  organizations: 'admin-organizations',
  users: 'admin-users',
}

export function groupOf(tag: string, path: string): string {
  if (tag === 'Administration') return ADMINISTRATION[path.split('/')[3]!] ?? 'administration'
  if (tag === 'Organizations') return /^\/v1\/(webhooks|notices)/.test(path) ? 'webhooks' : 'organizations'
  if (path.endsWith('/facets')) return 'features'
  if (tag === 'Publishing' && /\/(source|grants)(\/|$)/.test(path)) return 'sources'
  return BY_TAG[tag] ?? 'operation'
}
