import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { isJobEnded } from '@wayleave/contract/job-states'
import type { JobRecord, SourceRecord, SourceRunRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { asProblem } from '../api/problem.ts'

const POLL_MS = 1000

/** The source of a dataset; null if it has none. */
export function useSource(table: string, enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['source', table],
    queryFn: () =>
      call<SourceRecord>('GET', `/v1/dataset/${table}/source`).catch((error: unknown) => {
        if (asProblem(error).status === 404) return null
        throw error
      }),
  })
}

export function useSourceRuns(table: string) {
  return useQuery({
    queryKey: ['source', table, 'runs'],
    queryFn: async () =>
      (await call<{ data: SourceRunRecord[] }>('GET', `/v1/dataset/${table}/source/runs?limit=20`)).data,
  })
}

/** Runs the source, and waits for the end of the run, which the history then has. */
export function useRunSource(table: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async () => {
      let job = await call<JobRecord>('POST', `/v1/dataset/${table}/source/run`)
      while (!isJobEnded(job.state)) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        job = await call<JobRecord>('GET', `/v1/jobs/${job.id}`)
      }
      return job
    },
    onSettled: () =>
      Promise.all(
        [['source', table], ['archives', table], ['datasets']].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  })
}
