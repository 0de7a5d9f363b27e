import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { NO_DESCRIPTION } from '../administration/description-form.ts'
import { noReadingChoices, type ReadingChoices } from '../administration/reading-choices.ts'
import { tableNameOf } from '../administration/table-name.ts'
import { usePublishing } from '../administration/use-publishing.ts'
import { useDatasets, useSchema } from '../api/queries.ts'
import { correctedSchema } from './corrections.ts'
import type { FormChange } from './fixes.ts'
import { useInspection } from './use-inspection.ts'
import { NO_VERSION_CHOICES, versionOptions } from './version-fields.tsx'

/** A file up to this size is looked at as soon as it is chosen; to send and read a larger one takes minutes. */
const LOOKED_AT_ONCE_BYTES = 100_000_000

export type PublishForm = ReturnType<typeof usePublishForm>

/** What the form to publish a file holds, and what its buttons do. */
export function usePublishForm() {
  const { data: datasets = [], isPending } = useDatasets()
  const [file, setFile] = useState<File | null>(null)
  // A dataset's page leads here for its next version.
  const [parameters] = useSearchParams()
  const [table, setTable] = useState(parameters.get('table') ?? '')
  const [said, setSaid] = useState(NO_DESCRIPTION)
  const [version, setVersion] = useState(NO_VERSION_CHOICES)
  const [reading, setReading] = useState(noReadingChoices)
  const [isLooking, setIsLooking] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const publishing = usePublishing()
  const look = useInspection()
  const exists = datasets.find((dataset) => dataset.table === table)
  const { data: stored, isLoading: isSchemaLoading } = useSchema(exists?.table)
  // What a file is compared with has to be there first.
  const isLoading = isPending || isSchemaLoading

  const choose = (chosen: File) => {
    setFile(chosen)
    setTable((typed) => typed || tableNameOf(chosen.name))
    publishing.reset()
    look.reset()
  }
  const schemaOption = (): Record<string, string> => {
    const { inspection, corrections } = look
    const { isFixed = false, ...fixed } = stored ?? { columns: [] }
    const base = isFixed ? fixed : null
    const { idColumn, timeColumn, longitude, latitude, geometryColumn, crs } = reading
    const roles = { idColumn, timeColumn, longitude, latitude, geometryColumn, crs }
    const checks = { keepsAll: version.keepsColumns, maxRowDrop: version.maxRowDrop }
    const schema = inspection && correctedSchema(inspection.columns, corrections, base, checks, roles)
    return schema ? { schema: JSON.stringify(schema) } : {}
  }
  const inspect = () => {
    if (!file?.size) return
    setIsLooking(true)
    const { mode } = version
    const options = { ...readingOptions(reading), ...schemaOption(), ...(exists && mode && { mode }) }
    const path = `/v1/inspect${exists ? `?table=${table}` : ''}`
    void look.inspecting.start({ method: 'POST', path }, { file, inspection: look.inspectionId }, options)
  }
  // Or was published before it was: a look would hide how that goes.
  const lookedAt = useRef<File>(null)
  useEffect(() => {
    if (isLoading || !file || file.size > LOOKED_AT_ONCE_BYTES || lookedAt.current === file) return
    lookedAt.current = file
    inspect()
  })
  const publish = (change: FormChange = {}) => {
    if (!file?.size) return
    const changedReading = { ...reading, ...change.reading }
    const changedVersion = { ...version, ...change.version }
    setReading(changedReading)
    setVersion(changedVersion)
    setIsLooking(false)
    setIsAsking(false)
    sentBefore.add(nameOf(file, table))
    lookedAt.current = file
    void publishing.start(
      { method: 'PUT', path: `/v1/dataset/${table}` },
      { file, inspection: look.inspectionId },
      {
        ...written(said),
        ...readingOptions(changedReading),
        ...versionOptions(changedVersion),
        ...schemaOption(),
        ...(changedReading.skipInvalid && { skipInvalid: 'true' }),
      },
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const isAgain = file !== null && exists !== undefined && sentBefore.has(nameOf(file, table))
    if (isAgain) setIsAsking(true)
    else publish()
  }
  const startAnew = () => {
    setFile(null)
    setTable('')
    setSaid(NO_DESCRIPTION)
    setVersion(NO_VERSION_CHOICES)
    setReading(noReadingChoices)
    publishing.reset()
    look.reset()
  }
  return {
    file,
    choose,
    table,
    setTable,
    said,
    setSaid,
    version,
    setVersion,
    reading,
    setReading,
    /** The dataset of this name, if there is one, and its schema if a publisher fixed it. */
    exists,
    stored: stored?.isFixed ? stored : null,
    look,
    inspect,
    publishing: isLooking ? look.inspecting : publishing,
    publish,
    /** Also until it is known which datasets exist: a file for one of them is compared with it. */
    isBusy: isLoading || publishing.isBusy || look.inspecting.isBusy,
    /** Whether the same file was published before, and the user has to confirm. */
    isAsking,
    setIsAsking,
    submit,
    startAnew,
  }
}

/** The files that this tab has published, so that the same one again is asked about. */
const sentBefore = new Set<string>()

function nameOf({ name, size, lastModified }: File, table: string): string {
  return [table, name, size, lastModified].join('/')
}

/** The fields that have a text. */
function written(fields: object): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value.trim() !== ''))
}

function readingOptions({
  skipInvalid: _,
  isTable,
  allowInaccurateCrs,
  ...texts
}: ReadingChoices): Record<string, string> {
  return {
    ...written(texts),
    ...(isTable && { geometry: 'false' }),
    ...(allowInaccurateCrs && { allowInaccurateCrs: 'true' }),
  }
}
