import { useCallback, useEffect, useRef, useState } from 'react'
import { useLocation, useNavigation, useSearchParams } from 'react-router'

/** What a page has written to the address and the router has not applied yet, the oldest first. */
class WrittenAddresses {
  #waiting: string[] = []

  add(address: string): void {
    this.#waiting.push(address)
  }

  /** Whether the page itself has written what the router applies. What it wrote before will not be applied any more. */
  take(applied: string): boolean {
    const index = this.#waiting.indexOf(applied)
    const isLatest = this.#waiting.at(-1) === applied
    this.#waiting = index === -1 || isLatest ? [] : this.#waiting.slice(index + 1)
    return index !== -1
  }
}

type Change = (current: URLSearchParams) => URLSearchParams

/**
 * The parameters of the page's address as state. The router applies a change a moment later, so the state is kept here
 * too: a check box must not jump back and a text must not lose a letter until then, nor when the router applies the
 * change before it. A change replaces the history's entry, so that "back" leaves the page; with `isEntry`, "back"
 * undoes it.
 */
export function useParameters(): [URLSearchParams, (change: Change, isEntry?: boolean) => void] {
  const [parameters, setParameters] = useSearchParams()
  const [state, setState] = useState(parameters)
  const latest = useRef(state)
  const written = useRef(new WrittenAddresses()).current
  const setter = useRef(setParameters)
  setter.current = setParameters
  const { pathname } = useLocation()
  const isLeaving = useRef(false)
  const { location: next } = useNavigation()
  isLeaving.current = next !== undefined && next.pathname !== pathname
  const page = useRef(pathname)
  page.current = pathname
  useEffect(() => {
    const applied = parameters.toString()
    // Another address than those written here: a link or the history was used.
    if (written.take(applied) || applied === latest.current.toString()) return
    latest.current = parameters
    setState(parameters)
  }, [parameters, written])
  const change = useCallback(
    (change: Change, isEntry = false) => {
      // The map writes its view with a delay. A page that is being left must not change the address of the next one.
      if (isLeaving.current || window.location.pathname !== page.current) return
      latest.current = change(latest.current)
      written.add(latest.current.toString())
      setState(latest.current)
      setter.current(latest.current, { replace: !isEntry, preventScrollReset: true })
    },
    [written],
  )
  return [state, change]
}
