import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark'

const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
dark.addEventListener('change', () => tell())

function tell(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function shown(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : dark.matches ? 'dark' : 'light'
}

/** The current theme: the user's choice, or the system's if there is none. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, shown)
}

export function setTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem('theme', theme)
  } catch {
    // If storage is blocked, the choice lasts until the page is closed.
  }
  tell()
}
