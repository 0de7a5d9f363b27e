/** Room for the edge of the next tab, so that one sees that there is one. */
const MARGIN_PX = 28

/** Scrolls a list of tabs, and not the page, until its current tab is visible: on a phone not all have room. */
export function revealCurrentTab(list: HTMLElement | null): void {
  const tab = list?.querySelector('[aria-current], [aria-selected="true"]')
  if (!list || !tab) return
  const frame = list.getBoundingClientRect()
  const { left, right } = tab.getBoundingClientRect()
  if (left < frame.left) list.scrollLeft -= frame.left - left + MARGIN_PX
  else if (right > frame.right) list.scrollLeft += right - frame.right + MARGIN_PX
}
