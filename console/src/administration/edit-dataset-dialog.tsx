import { useQueryClient } from '@tanstack/react-query'
import type { Dataset } from '@wayleave/client'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { SelectField } from '../organization/filter-fields.tsx'
import { ColumnNoteFields } from './column-note-fields.tsx'
import { DescriptionFields, TitleField } from './description-fields.tsx'
import { columnNotesOf, descriptionOf, writtenNotes } from './description-form.ts'

const EXTRACT_PRICES = [
  ['', 'As the service says'],
  ['share', 'Its share of the price of a download'],
  ['whole', 'The price of a download'],
  ['free', 'Nothing'],
] as const

export function EditDatasetDialog({ dataset, onClose }: { dataset: Dataset; onClose: () => void }) {
  const queries = useQueryClient()
  const [value, setValue] = useState(() => descriptionOf(dataset))
  const [notes, setNotes] = useState(() => columnNotesOf(dataset))
  const [extractPrice, setExtractPrice] = useState<string>(dataset.extractPrice ?? '')
  return (
    <ActionDialog
      title={`Edit “${dataset.title}”`}
      action="Save the description"
      onClose={onClose}
      onAction={async () => {
        const keywords = value.keywords.split(',').map((word) => word.trim())
        await call('PATCH', `/v1/dataset/${dataset.table}`, {
          ...value,
          credits: Number(value.credits),
          extractPrice: extractPrice || null,
          keywords: keywords.filter(Boolean),
          columns: writtenNotes(notes),
        })
        await queries.invalidateQueries({ queryKey: ['datasets'] })
      }}
    >
      <p className="soft">The data stays as it is; a new price holds for the next download.</p>
      <TitleField value={value} onChange={setValue} />
      <DescriptionFields value={value} onChange={setValue} />
      <SelectField
        label="A file of filtered rows costs"
        value={extractPrice}
        onChange={setExtractPrice}
        options={EXTRACT_PRICES}
      />
      <ColumnNoteFields value={notes} onChange={setNotes} />
    </ActionDialog>
  )
}
