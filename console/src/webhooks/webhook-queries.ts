import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { DeliveryRecord, Page, WebhookRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { queryText } from '../api/queries.ts'

/** Whose webhooks: the path of the API and that of the pages. */
export interface WebhookOwner {
  path: string
  page: string
}

export const organizationWebhooks: WebhookOwner = { path: '/v1/webhooks', page: '/organization/webhooks' }
export const platformWebhooks: WebhookOwner = { path: '/v1/admin/webhooks', page: '/administration/webhooks' }

export const useWebhooks = ({ path }: WebhookOwner) =>
  useQuery({
    queryKey: ['webhooks', path],
    queryFn: async () => (await call<{ data: WebhookRecord[] }>('GET', path)).data,
  })

export const useWebhook = ({ path }: WebhookOwner, id: string) =>
  useQuery({
    queryKey: ['webhooks', path, id],
    queryFn: () => call<WebhookRecord>('GET', `${path}/${id}`),
  })

/** How often the log is read again while a message is under way. */
const POLL_MS = 1500

export const useDeliveries = ({ path }: WebhookOwner, id: string, state: string) =>
  useInfiniteQuery({
    queryKey: ['webhooks', path, id, 'deliveries', state],
    queryFn: ({ pageParam }) =>
      call<Page<DeliveryRecord, string>>(
        'GET',
        `${path}/${id}/deliveries?${queryText({ state, limit: '50', after: pageParam ?? '' })}`,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.data.some(isUnderWay)) ? POLL_MS : false,
  })

/** A message that waits for hours is not watched. */
function isUnderWay({ state, nextAttemptAt }: DeliveryRecord): boolean {
  return state === 'waiting' && nextAttemptAt !== null && Date.parse(nextAttemptAt) < Date.now() + 10_000
}
