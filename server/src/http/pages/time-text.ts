/** A time as all pages write it, such as `5 Feb 2018, 12:30 UTC`; a date without a time stays one. */
export function timeText(iso: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return iso
  const day = DAY.format(time)
  return iso.includes('T') ? `${day}, ${time.toISOString().slice(11, 16)} UTC` : day
}

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
