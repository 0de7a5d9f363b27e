/** One line of the doctor's report. */
export interface Check {
  name: string
  status: 'ok' | 'warning' | 'problem'
  message: string
  /** How to fix it; absent if the check passed. */
  remedy?: string
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message }
}

export function warning(name: string, message: string, remedy: string): Check {
  return { name, status: 'warning', message, remedy }
}

export function problem(name: string, message: string, remedy: string): Check {
  return { name, status: 'problem', message, remedy }
}
