/** Room beside the current tab: the ends of the list fade out over 2 and 4 rem (layout.css), and the tab must not. */
const LEFT_PX = 40
const RIGHT_PX = 72

/** Scrolls a list of tabs, and not the page, until its current tab is visible: on a phone not all have room. */
export function revealCurrentTab(list: HTMLElement | null): void {
  const tab = list?.querySelector('[aria-current], [aria-selected="true"]')
  if (!list || !tab) return
  const frame = list.getBoundingClientRect()
  const { left, right } = tab.getBoundingClientRect()
  if (left < frame.left + LEFT_PX) list.scrollLeft -= frame.left + LEFT_PX - left
  else if (right > frame.right - RIGHT_PX) list.scrollLeft += right - frame.right + RIGHT_PX
}
