import type { Column } from './filter/facet.ts'

/** The name of a column with its unit; its title and description appear on hover. */
export function ColumnName({ column: { name, title, description, unit } }: { column: Column }) {
  const about = [title, description].filter(Boolean).join(': ')
  return (
    <span title={about || undefined}>
      <span dir="auto">{name}</span>
      {unit && <small className="unit"> {unit}</small>}
    </span>
  )
}
