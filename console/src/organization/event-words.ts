import type { EventRecord } from '@wayleave/contract/records'
import { count, moment } from '../words.ts'

/** The subject's current name, else its name at the time of the event, else its id. */
export function subjectName({ subject, detail }: EventRecord, name: string | undefined): string {
  const then = detail['name'] ?? detail['email']
  return name ?? (typeof then === 'string' ? then : subject)
}

/** The subject's id and the other details of the event; empty values are omitted. */
export function detailWords({ subject, detail }: EventRecord): string {
  const words = Object.entries(detail)
    .filter(([name]) => name !== 'name' && name !== 'email')
    .map(([name, value]) => [name, valueWords(value)])
    .filter(([, words]) => words !== '')
    .map(([name, words]) => `${name} ${words}`)
  return [subject.replace(/^\w+:/, ''), ...words].join(' · ')
}

function valueWords(value: unknown): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(valueWords).join(', ')
  if (typeof value === 'number') return count(value)
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
