import { useQueryClient } from '@tanstack/react-query'
import type { Dataset } from '@wayleave/client'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/action-dialog.tsx'
import { type Description, DescriptionFields } from './description-fields.tsx'

export function DescribeDialog({ dataset, onClose }: { dataset: Dataset; onClose: () => void }) {
  const queries = useQueryClient()
  const [value, setValue] = useState<Description>({
    title: dataset.title,
    description: dataset.description,
    license: dataset.license,
    attribution: dataset.attribution,
    keywords: dataset.keywords.join(', '),
    credits: String(dataset.credits),
  })
  return (
    <ActionDialog
      title={`Describe ${dataset.table}`}
      action="Save the description"
      onClose={onClose}
      onAction={async () => {
        const keywords = value.keywords.split(',').map((word) => word.trim())
        await call('PATCH', `/v1/dataset/${dataset.table}`, {
          ...value,
          credits: Number(value.credits),
          keywords: keywords.filter(Boolean),
        })
        await queries.invalidateQueries({ queryKey: ['datasets'] })
      }}
    >
      <p className="soft">The data stays as it is; a new price holds for the next download.</p>
      <DescriptionFields value={value} onChange={setValue} />
    </ActionDialog>
  )
}
