/** An element with the focus, and what was around it. */
export interface FocusPlace {
  element: Element
  /** From the parent to the root. */
  ancestors: Element[]
  /** The table or list that the element's row is in, and the row's place in it. */
  rows: { list: Element; index: number } | null
}

export function focusPlace(element: Element): FocusPlace {
  const ancestors: Element[] = []
  for (let one = element.parentElement; one; one = one.parentElement) ancestors.push(one)
  const row = element.closest('tr, li')
  const list = row?.parentElement
  return { element, ancestors, rows: list ? { list, index: [...list.children].indexOf(row) } : null }
}

/**
 * Gives the focus back to an element. If it was removed, because its row was deleted or its action is not possible any
 * more, the row in its place gets the focus, else the nearest heading. Lists are often read again a moment after an
 * action, so the element is watched until something else has the focus.
 */
export function returnFocus(place: FocusPlace): void {
  focus(successorOf(place))
  if (!place.element.isConnected) return
  const watch = new MutationObserver(() => {
    if (place.element.isConnected) return
    stop()
    if (document.activeElement === document.body) focus(successorOf(place))
  })
  const stop = () => {
    watch.disconnect()
    document.removeEventListener('focusin', stop)
  }
  document.addEventListener('focusin', stop)
  watch.observe(document.body, { childList: true, subtree: true })
}

function successorOf({ element, ancestors, rows }: FocusPlace): Element | null {
  if (element.isConnected) return element
  const left = rows?.list.isConnected ? rows.list.children : []
  const row = left[Math.min(rows?.index ?? 0, left.length - 1)]
  const control = row?.querySelector('a[href], button:not(:disabled)')
  if (control) return control
  const around = ancestors.filter(({ isConnected }) => isConnected)
  for (const one of around) {
    const heading = one.querySelector('h1, h2, h3')
    if (heading) return heading
  }
  return document.getElementById('content')
}

function focus(element: Element | null): void {
  if (!(element instanceof HTMLElement)) return
  // A heading is not reached by Tab, but screen readers and the next Tab continue from it.
  if (/^H\d$/.test(element.tagName)) element.tabIndex = -1
  element.focus()
}
