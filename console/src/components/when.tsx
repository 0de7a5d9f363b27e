import { useEffect, useState } from 'react'
import { ago, day, moment } from '../words.ts'

const MINUTE_MS = 60_000

/** A date and time in UTC, with the time that has passed as its title. Records are written this way. */
export function When({ at, never = 'Never' }: { at: string | null; never?: string }) {
  if (at === null) return <span className="soft">{never}</span>
  return (
    <time dateTime={at} title={ago(at, Date.now())}>
      {moment(at)}
    </time>
  )
}

/** How long ago something was used, with the exact time as its title. It stays true while the page is open. */
export function Ago({ at, never = 'Never' }: { at: string | null; never?: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  if (at === null) return <span className="soft">{never}</span>
  return (
    <time dateTime={at} title={moment(at)} className="nowrap">
      {ago(at, Math.max(now, Date.parse(at) + 1))}
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
