import type { Feature } from '@wayleave/client'
import { useSyncExternalStore } from 'react'

/** The feature under the mouse, in the table or on the map; the other one highlights it. */
export interface Pointed {
  id: string
  from: 'map' | 'table'
  /** Set if the pointer is on a row of the table; the map then draws the feature even if its tiles show a cluster. */
  feature: Feature | null
}

/** Holds the pointed feature outside React's state: the mouse moves too often to render the page each time. */
export class Pointing {
  #pointed: Pointed | null = null
  readonly #listeners = new Set<() => void>()

  get current(): Pointed | null {
    return this.#pointed
  }

  point(pointed: Pointed | null): void {
    if (this.#pointed?.id === pointed?.id && this.#pointed?.from === pointed?.from) return
    this.#pointed = pointed
    for (const listener of this.#listeners) listener()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Whether the map points at the feature with this id. */
export function useIsPointedByMap(pointing: Pointing, id: string): boolean {
  return useSyncExternalStore(
    pointing.subscribe,
    () => pointing.current?.from === 'map' && pointing.current.id === id,
  )
}
