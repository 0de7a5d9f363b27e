import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { DatasetGrantRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { useGrants } from '../api/queries.ts'
import { Loaded } from '../components/page/loaded.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Table } from '../components/table.tsx'
import { Day } from '../components/when.tsx'
import { plural } from '../words.ts'
import { ACCESS_WORDS } from './visibility-words.ts'

/** The organizations that have access to a dataset, until when, and what for. */
export function OrganizationsWithAccess({ table }: { table: string }) {
  const grants = useGrants(table)
  const queries = useQueryClient()
  const end = useMutation({
    mutationFn: ({ id }: DatasetGrantRecord) => call('DELETE', `/v1/admin/datasets/${table}/grants/${id}`),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['grants', table] }),
  })
  return (
    <section className="stack-small" aria-labelledby="with-access">
      <h3 id="with-access">Organizations with access</h3>
      {end.isError && <ProblemNote error={end.error} />}
      <Loaded query={grants} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="small soft">No organization has been given access yet.</p>
          ) : (
            <Table
              label="Organizations with access"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { head: 'Organization', kind: 'long', cell: ({ organizationName }) => organizationName },
                { head: 'What for', kind: 'long', cell: whatFor },
                {
                  head: 'A download costs',
                  cell: ({ credits }) => (credits === null ? 'the usual price' : plural(credits, 'credit')),
                },
                { head: 'Until', cell: until },
                {
                  head: 'Actions',
                  kind: 'actions',
                  cell: (grant) => (
                    <button
                      type="button"
                      className="button quiet small"
                      aria-label={`End the access of ${grant.organizationName}`}
                      disabled={end.isPending}
                      onClick={() => end.mutate(grant)}
                    >
                      End
                    </button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  )
}

function whatFor({ access }: DatasetGrantRecord) {
  return access === null ? 'Everything' : access.map((each) => ACCESS_WORDS[each]).join(', ')
}

function until({ expiresAt }: DatasetGrantRecord) {
  if (expiresAt === null) return 'You end it'
  const isOver = Date.parse(expiresAt) <= Date.now()
  return (
    <>
      <Day at={expiresAt} /> {isOver && <span className="badge">Over</span>}
    </>
  )
}
