import { ago, day, moment } from '../words.ts'

/** A date and time in UTC, with the time that has passed as its title. All pages write times this way. */
export function When({ at, never = 'Never' }: { at: string | null; never?: string }) {
  if (at === null) return <span className="soft">{never}</span>
  return (
    <time dateTime={at} title={ago(at, Date.now())}>
      {moment(at)}
    </time>
  )
}

/** A date with the time of day, in UTC. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} className="nowrap">
      {moment(at)}
    </time>
  )
}

export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)} className="nowrap">
      {day(at)}
    </time>
  )
}
