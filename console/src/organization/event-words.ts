import type { EventRecord } from '@wayleave/contract/records'
import { count, moment } from '../words.ts'

/** The subject's current name, else its name at the time of the event, else its id. */
export function subjectName({ subject, subjectName, detail }: EventRecord): string {
  const then = detail['name'] ?? detail['email']
  return subjectName ?? (typeof then === 'string' ? then : subject)
}

/** Who did it: a mail address, the name of a key, or what stands for neither. */
export function actorWords({ actor, actorName }: EventRecord): string {
  if (actorName !== null) return actorName
  if (actor === 'operator') return 'The operator'
  if (actor === 'system') return 'The service'
  return actor.startsWith('user:') ? `A deleted user (${actor.slice('user:'.length)})` : actor
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
