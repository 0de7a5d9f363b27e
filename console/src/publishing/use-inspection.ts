import type { JobRecord } from '@wayleave/contract/records'
import { useEffect, useState } from 'react'
import { usePublishing } from '../administration/use-publishing.ts'
import type { Corrections } from './corrections.ts'

/** The last inspection of a file, and what the publisher corrects. */
export function useInspection() {
  const inspecting = usePublishing()
  const [corrections, setCorrections] = useState<Corrections>({})
  // It stays while the file is inspected again.
  const [inspected, setInspected] = useState<JobRecord | null>(null)
  const { data: job } = inspecting.job
  useEffect(() => {
    if (job?.state === 'done') setInspected(job)
  }, [job])
  return {
    inspecting,
    inspection: inspected?.inspection ?? null,
    /** The job whose file the server still has. */
    inspectionId: inspected?.id ?? null,
    corrections,
    setCorrections,
    reset: () => {
      setCorrections({})
      setInspected(null)
      inspecting.reset()
    },
  }
}
