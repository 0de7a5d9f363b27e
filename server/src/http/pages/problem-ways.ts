import type { ProblemCode } from '../../base/problem.ts'

/** Where a person goes on after a problem. The first one is the most likely. */
export interface Way {
  href: string
  text: string
}

interface Explanation {
  /** Why this happens to people, beside what the problem means. */
  why: string
  ways: readonly Way[]
}

const SIGN_IN: Way = { href: '/sign-in', text: 'Sign in' }
const KEYS: Way = { href: '/keys', text: 'See your keys' }
const NEW_KEY: Way = { href: '/getting-started', text: 'Create a key' }
const DATASETS: Way = { href: '/datasets', text: 'See the datasets' }
const REFERENCE: Way = { href: '/docs/api', text: 'Open the API reference' }
const ACCESS: Way = { href: '/organization/access', text: 'Request access' }
const MEMBERS: Way = { href: '/organization/members', text: 'See who manages your organization' }
const STATUS: Way = { href: '/status', text: 'See whether the service works' }
const CQL2: Way = { href: '/docs/cql2', text: 'Read how filters are written' }

const REQUEST: Explanation = {
  why: 'A program sent something that the service does not take: often a misspelt parameter, or a value of another type.',
  ways: [REFERENCE],
}
const KEY: Explanation = {
  why: 'Data is read with a key, which this request did not have, or which is not valid any more. Signed-in people need none in the browser.',
  ways: [SIGN_IN, NEW_KEY, KEYS],
}
const RIGHTS: Explanation = {
  why: 'You are known, but what you asked for is not among your rights. Somebody who manages your organization can change that.',
  ways: [MEMBERS, ACCESS],
}
const CALLER: Explanation = {
  why: 'The key is limited to some web pages or network addresses, or the request came from a page of another site.',
  ways: [KEYS, { href: '/docs/keys-and-access', text: 'Read about allowed callers' }],
}
const STATE: Explanation = {
  why: 'Somebody or something else changed the same thing meanwhile, or it is in a state that does not allow the change.',
  ways: [REFERENCE],
}
const CREDITS: Explanation = {
  why: 'Files cost credits; maps, tables, samples and what was paid within a day do not. All members and keys of an organization spend from one balance.',
  ways: [
    { href: '/organization/credits', text: 'See your credits' },
    ACCESS,
    { href: '/docs/downloads', text: 'Read what costs credits' },
  ],
}
const LIMIT: Explanation = {
  why: 'More requests came than the limit allows, often because a program repeats them without a pause.',
  ways: [
    { href: '/docs/keys-and-access', text: 'Read about limits' },
    { href: '/organization/usage', text: 'See your usage' },
  ],
}
const SERVICE: Explanation = {
  why: 'It is not your fault. The service is busy, restarts, or lacks a part that it needs. The same request usually works a little later.',
  ways: [STATUS],
}
const BUILDING: Explanation = {
  why: 'The file or the tiles are still made after a new version was published, or could not be made.',
  ways: [DATASETS, STATUS],
}
const SESSION: Explanation = {
  why: 'Links and codes work once and for some minutes; sessions end when you sign out or have been away for long.',
  ways: [SIGN_IN],
}
const ADDRESS: Explanation = {
  why: 'The address is misspelt or old, or leads to something that you may not see without signing in.',
  ways: [DATASETS, SIGN_IN, { href: '/docs', text: 'Search the documentation' }],
}
const FILTER: Explanation = {
  why: 'The filter names a property that the dataset does not have, compares different types, or has a typing error.',
  ways: [CQL2, DATASETS],
}
const SMALLER: Explanation = {
  why: 'The request asks for more than the service computes at once. A filter makes it smaller, and a file of the whole dataset has everything.',
  ways: [CQL2, { href: '/docs/downloads', text: 'Read how to download everything' }],
}

/** Codes that need more than the explanation of their status. */
const BY_CODE: Partial<Record<ProblemCode, Explanation>> = {
  'invalid-filter': FILTER,
  'extract-too-large': SMALLER,
  'too-many-groups': SMALLER,
  'key-missing': KEY,
  'key-invalid': KEY,
  'token-missing': SESSION,
  'token-invalid': SESSION,
  'credits-exhausted': CREDITS,
  'price-higher': {
    why: 'The price was raised after you were told it. Nothing was charged.',
    ways: CREDITS.ways,
  },
  'key-budget-exhausted': { ...CREDITS, ways: [KEYS, ...CREDITS.ways] },
  'add-on-missing': {
    why: 'Your organization does not have the add-on that this part of the service belongs to.',
    ways: [ACCESS, MEMBERS],
  },
  'origin-refused': CALLER,
  'origin-not-allowed': CALLER,
  'address-not-allowed': CALLER,
  'test-key': { why: 'The key is a test key, which gets metadata and samples only.', ways: [NEW_KEY, KEYS] },
  'export-not-ready': BUILDING,
  'export-impossible': BUILDING,
  'tiles-not-ready': BUILDING,
  'tiles-failed': BUILDING,
  'build-failed': BUILDING,
}

const BY_STATUS: Record<number, Explanation> = {
  400: REQUEST,
  401: SESSION,
  402: CREDITS,
  403: RIGHTS,
  404: ADDRESS,
  409: STATE,
  429: LIMIT,
}

/** Why a problem happens, and where to go on. */
export function explanationOf(code: ProblemCode, status: number): Explanation {
  return BY_CODE[code] ?? BY_STATUS[status] ?? (status >= 500 ? SERVICE : REQUEST)
}
