import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { isJobEnded } from '@wayleave/contract/job-states'
import type {
  AccessRequest,
  AddressBlock,
  AdminEvent,
  AdminOrganization,
  AdminSession,
  AdminUser,
  ArchiveRecord,
  Dashboard,
  DatasetDetails,
  DatasetGrantRecord,
  DatasetRecord,
  EventRecord,
  InvitationRecord,
  JobRecord,
  KeyRecord,
  LedgerRow,
  Member,
  OrganizationRecord,
  OrganizationUsage,
  Page,
  PublishedUsage,
  PublishingSchema,
  UsageReport,
} from '@wayleave/contract/records'
import { DATASET_ACCESS } from '@wayleave/contract/visibilities'
import { useSyncExternalStore } from 'react'
import { call } from './call.ts'
import { publicData } from './data.ts'
import { meQuery } from './me.ts'
import { ProblemError } from './problem.ts'
import { queryClient } from './query-client.ts'
import { type SessionState, session } from './session.ts'
import { forgetKey, readerKey } from './session-key.ts'

session.subscribe(() => {
  if (session.state === 'signed-out') queryClient.clear()
  // A signed-in user may see more datasets, and more of them.
  if (session.state === 'signed-in') queryClient.invalidateQueries({ queryKey: ['datasets'] })
})

export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state)
}

const list = async <T>(path: string) => (await call<{ data: T[] }>('GET', path)).data
const hour = 3_600_000

export function useMe() {
  const enabled = useSession() === 'signed-in'
  return useQuery({ ...meQuery, enabled })
}

/**
 * After the user has joined or left an organization: everything is stale, but only the user is read again at
 * once. What the page still shows is of the organization before, or of an invitation that is used up.
 */
export async function organizationChanged(): Promise<void> {
  forgetKey()
  await queryClient.invalidateQueries({ refetchType: 'none' })
  await queryClient.refetchQueries({ queryKey: ['me'] })
}

/** The user's organization with permissions; null while it is loading or if there is none. */
export function useOrganization(): OrganizationRecord | null {
  return useMe().data?.organization ?? null
}

/** All organizations of the user. */
export function useOrganizations() {
  const enabled = useSession() === 'signed-in'
  return useQuery({
    queryKey: ['organizations'],
    queryFn: () => list<OrganizationRecord>('/v1/organizations'),
    enabled,
  })
}

export function useDatasets() {
  return useQuery({ queryKey: ['datasets'], queryFn: () => publicData.datasets() })
}

const TILES_POLL_MS = 1500

/** What everybody may get; the record of the dataset says what the user may get. */
const accessOfListed = ({ visibility }: DatasetRecord) => (visibility === 'open' ? [...DATASET_ACCESS] : [])

export function useDataset(table: string) {
  return useQuery({
    queryKey: ['datasets', table],
    queryFn: async () => (await publicData.dataset(table)) as DatasetDetails,
    // The catalog has the record without statistics, which is enough to show the page at once.
    placeholderData: () => {
      const list = queryClient.getQueryData<Awaited<ReturnType<typeof publicData.datasets>>>(['datasets'])
      const listed = list?.find((dataset) => dataset.table === table)
      return listed && { ...listed, access: accessOfListed(listed), statistics: null }
    },
    refetchInterval: ({ state }) =>
      ['pending', 'building'].includes(state.data?.tiles?.state ?? '') ? TILES_POLL_MS : false,
  })
}

/** Who has access to a dataset beyond add-ons, for those who may change it. */
export const useGrants = (table: string) =>
  useQuery({
    queryKey: ['grants', table],
    queryFn: () => list<DatasetGrantRecord>(`/v1/admin/datasets/${table}/grants`),
  })

/** The datasets of the user's organization, also those that others do not see. */
export const useOwnDatasets = (organizationId: string) =>
  useQuery({
    queryKey: ['datasets', 'of', organizationId],
    queryFn: () => list<DatasetRecord>(`/v1/organization/${organizationId}/datasets`),
  })

/** How often they were called in the last 30 days, and the credits that others paid for them. */
export const usePublishedUsage = (organizationId: string) =>
  useQuery({
    queryKey: ['published-usage', organizationId],
    queryFn: () => call<PublishedUsage>('GET', `/v1/organization/${organizationId}/datasets/usage`),
  })

/** The small map of a dataset; null if it has none. */
export function usePreview({ table, version, tiles, visibility }: DatasetRecord, enabled: boolean) {
  const isBuilding = tiles?.state === 'pending' || tiles?.state === 'building'
  return useQuery({
    queryKey: ['preview', table, version],
    queryFn: async () => {
      const key = visibility === 'public' || visibility === 'open' ? '' : await readerKey()
      const headers: Record<string, string> = key === '' ? {} : { 'X-API-Key': key }
      const response = await fetch(`/v1/dataset/${table}/preview`, { headers })
      return response.status === 200 ? ((await response.json()) as Preview) : null
    },
    enabled,
    staleTime: hour,
    refetchInterval: ({ state }) => (state.data === null && isBuilding ? PREVIEW_POLL_MS : false),
  })
}

/** How often a preview is asked for again while the tiles that it is drawn from are built. */
const PREVIEW_POLL_MS = 3000

/** SVG paths in degrees, with the latitude negated. */
export interface Preview {
  points: string
  lines: string
  areas: string
  /** Parts of areas, to be filled without borders. */
  cutAreas: string
}

export function useSample(table: string, version: number, enabled = true) {
  return useQuery({
    queryKey: ['sample', table, version],
    queryFn: () => publicData.sample(table),
    enabled,
    staleTime: hour,
  })
}

export function useArchives(table: string, enabled: boolean) {
  return useQuery({ queryKey: ['archives', table], queryFn: () => publicData.archives(table), enabled })
}

/** The version that waits for its release; null if there is none. */
export function useDraft(table: string, enabled: boolean) {
  return useQuery({
    queryKey: ['archives', table, 'draft'],
    queryFn: () =>
      call<ArchiveRecord>('GET', `/v1/dataset/${table}/draft`).catch((error: unknown) => {
        if (error instanceof ProblemError && error.status === 404) return null
        throw error
      }),
    enabled,
  })
}

/** What is fixed about a dataset, for its publishers. */
export function useSchema(table: string | undefined) {
  return useQuery({
    queryKey: ['schema', table],
    queryFn: () => call<PublishingSchema & { isFixed: boolean }>('GET', `/v1/dataset/${table}/schema`),
    enabled: table !== undefined,
  })
}

export function useKeys(enabled = true) {
  return useQuery({ queryKey: ['keys'], queryFn: () => list<KeyRecord>('/v1/api-keys/accessible'), enabled })
}

export function useKey(path: string) {
  return useQuery({ queryKey: ['key', path], queryFn: () => call<KeyRecord>('GET', path) })
}

export interface DateRange {
  startDate: string
  endDate: string
}

/** The key and the dataset whose calls a report of an organization has; all of them without one. */
export interface UsageFilter {
  keyId?: string
  table?: string
}

export function useUsage<T extends UsageReport = UsageReport>(
  path: string,
  range: DateRange & UsageFilter,
  refetchInterval = 0,
) {
  return useQuery({
    ...usageQuery<T>(path, range),
    placeholderData: keepPreviousData,
    refetchInterval: refetchInterval || false,
  })
}

export function usageQuery<T extends UsageReport = UsageReport>(
  path: string,
  range: DateRange & UsageFilter,
) {
  return {
    queryKey: ['usage', path, range],
    queryFn: () => call<T>('GET', `${path}?${new URLSearchParams({ ...range })}`),
  }
}

export function useOrganizationUsage(organizationId: string, range: DateRange & UsageFilter) {
  return useUsage<OrganizationUsage>(`/v1/organization/${organizationId}/usage`, range)
}

export function useMembers(organizationId: string) {
  return useQuery({
    queryKey: ['members', organizationId],
    queryFn: () => list<Member>(`/v1/organization/${organizationId}/members`),
  })
}

export function useInvitations(organizationId: string, enabled: boolean) {
  return useQuery({
    queryKey: ['invitations', organizationId],
    queryFn: () => list<InvitationRecord>(`/v1/organization/${organizationId}/invitations`),
    enabled,
  })
}

const rowsAPage = 50

/** `filter` has the query parameters of the request; empty ones are left out. */
export type RowFilter = Record<string, string>

export function queryText(filter: RowFilter): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString()
}

/** An append-only list, newest first, a page at a time. */
export function useRows<T>(path: string, filter: RowFilter = {}) {
  return useInfiniteQuery({
    queryKey: ['rows', path, filter],
    queryFn: ({ pageParam }) => {
      const before = pageParam === null ? '' : String(pageParam)
      return call<Page<T, number>>(
        'GET',
        `${path}?${queryText({ ...filter, limit: String(rowsAPage), before })}`,
      )
    },
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
}

export const useLedger = (path: string, filter: RowFilter) => useRows<LedgerRow>(`${path}/ledger`, filter)
export const useEvents = (organizationId: string, filter: RowFilter) =>
  useRows<EventRecord>(`/v1/organization/${organizationId}/events`, filter)
export const usePlatformEvents = (filter: RowFilter) => useRows<AdminEvent>('/v1/admin/events', filter)

/** What members asked the operator for. */
export function useAccessRequests(organizationId: string, enabled = true) {
  return useQuery({
    queryKey: ['access-requests', organizationId],
    queryFn: () => list<AccessRequest>(`/v1/organization/${organizationId}/access-requests`),
    enabled,
  })
}

export function useAdminRows<T>(path: string, filter: RowFilter) {
  return useInfiniteQuery({
    queryKey: ['admin', path, filter],
    queryFn: ({ pageParam }) =>
      call<Page<T, string>>(
        'GET',
        `${path}?${queryText({ ...filter, limit: String(rowsAPage), after: pageParam ?? '' })}`,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
}

export const useAdminOrganizations = (search: string) =>
  useAdminRows<AdminOrganization>('/v1/admin/organizations', { search })
export const useAdminUsers = (search: string) => useAdminRows<AdminUser>('/v1/admin/users', { search })
export const useRequestInbox = (state: string) =>
  useAdminRows<AccessRequest>('/v1/admin/access-requests', { state })

const useAdminData = <T>(path: string) =>
  useQuery({ queryKey: ['admin', path], queryFn: () => call<T>('GET', `/v1/admin/${path}`) })

export const useDashboard = () => useAdminData<Dashboard>('dashboard')
export const useAdminOrganization = (id: string) => useAdminData<AdminOrganization>(`organizations/${id}`)
export const useAdminUser = (id: string) => useAdminData<AdminUser>(`users/${id}`)

export function useAdminMembers(organizationId: string) {
  return useQuery({
    queryKey: ['admin', 'members', organizationId],
    queryFn: () => list<Member>(`/v1/admin/organizations/${organizationId}/members`),
  })
}

export function useAdminKeys(organizationId: string) {
  return useQuery({
    queryKey: ['admin', 'organization-keys', organizationId],
    queryFn: () => list<KeyRecord>(`/v1/admin/organizations/${organizationId}/keys`),
  })
}

export const useSessions = (userId: string) =>
  useQuery({
    queryKey: ['admin', 'sessions', userId],
    queryFn: () => list<AdminSession>(`/v1/admin/users/${userId}/sessions`),
  })

export const useAddressBlocks = () =>
  useQuery({
    queryKey: ['admin', 'address-blocks'],
    queryFn: () => list<AddressBlock>('/v1/admin/address-blocks'),
  })

/** Refreshed every five seconds while a job waits or runs. */
export function useJobs() {
  return useInfiniteQuery({
    queryKey: ['jobs'],
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({ limit: String(rowsAPage) })
      if (pageParam) query.set('after', pageParam)
      return call<Page<JobRecord, string>>('GET', `/v1/jobs?${query}`)
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((job) => !isJobEnded(job.state))) ? 5000 : false,
  })
}

export function usePlatformKeys() {
  return useQuery({ queryKey: ['keys', 'platform'], queryFn: () => list<KeyRecord>('/v1/admin/keys') })
}

/** Poll a job every 1.5 seconds: a user's management calls are limited per minute. */
export function useJob(id: string | null) {
  return useQuery({
    queryKey: ['job', id],
    queryFn: () => call<JobRecord>('GET', `/v1/jobs/${id}`),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data && isJobEnded(state.data.state) ? false : 1500),
  })
}
