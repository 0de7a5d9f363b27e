/** The current time is injected as a function, so that tests can control it. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

export function plus(date: Date, milliseconds: number): Date {
  return new Date(date.getTime() + milliseconds)
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/**
 * Whether the time is valid and can be stored. Stored times are compared as text, and only years of four digits
 * sort chronologically: an offset can move a time of the year 9999 into the year 10000.
 */
export function isStorableTime(time: Date): boolean {
  return !Number.isNaN(time.getTime()) && /^\d{4}-/.test(time.toISOString())
}
