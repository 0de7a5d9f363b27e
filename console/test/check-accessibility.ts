import assert from 'node:assert/strict'
import axe, { type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

/** All rules. Computing the selectors of elements and looking into frames would only take time here. */
const ALL_RULES: RunOptions = {
  resultTypes: ['violations'],
  selectors: false,
  preload: false,
  iframes: false,
}
/** The rules that look at colors. The results of all others are the same in both themes. */
const COLOR_RULES: RunOptions = { ...ALL_RULES, runOnly: ['color-contrast', 'link-in-text-block'] }

/** Checks that the page is not wider than a tablet or a phone, and runs axe in both themes. */
export async function check(page: Page, { isCut = false } = {}): Promise<void> {
  const { width, height } = page.viewportSize()!
  for (const narrow of [768, 320]) {
    await page.setViewportSize({ width: narrow, height })
    assert.deepEqual(await page.evaluate(overflowing), [], `${narrow} pixels at ${page.url()}`)
  }
  await page.setViewportSize({ width, height })
  if (isCut) await page.evaluate(removeRepeatedElements)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  for (const [colorScheme, rules] of [
    ['light', ALL_RULES],
    ['dark', COLOR_RULES],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.evaluate(markDistinctColors)
    const violations = await page.evaluate(async (options) => {
      const { axe: injected } = window as unknown as { axe: typeof axe }
      injected.configure({ rules: [{ id: 'color-contrast', selector: '[data-distinct-colors]' }] })
      const { violations } = await injected.run(options)
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
    }, rules)
    assert.deepEqual(violations, [], `${colorScheme} at ${page.url()}`)
  }
}

/**
 * Cuts a long page before axe runs: removes rows, items, paragraphs, code blocks and operations if the page has
 * three others at the same place with the same kinds of elements, attributes and roles, which axe treats alike.
 */
function removeRepeatedElements(): void {
  const EXAMPLES = 3
  const CUT = 'tr, li, p, pre, figure, .statuses > details, .try label, .operation'
  const counts = new Map<string, number>()
  const traitsOf = (element: Element): string => {
    const attributes = [...element.attributes].map(({ name, value }) =>
      /^(class|role|type|lang|tabindex|aria-(?!label|controls|describedby))/.test(name)
        ? `${name}=${value}`
        : `${name}${value.trim() ? '' : '='}`,
    )
    return [element.localName, ...attributes, element.textContent!.trim() ? 'text' : 'empty'].join()
  }
  const shapeOf = (element: Element): string =>
    `${traitsOf(element)}(${[...new Set([...element.children].map(shapeOf))].join(';')})`
  const placeOf = (element: Element | null): string =>
    element ? `${placeOf(element.parentElement)}>${element.localName}.${element.className}` : ''
  for (const element of document.querySelectorAll(CUT)) {
    if (!element.isConnected) continue
    const kind = placeOf(element.parentElement) + shapeOf(element)
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    if (count > EXAMPLES) element.remove()
  }
}

/**
 * Marks the elements whose contrast axe computes. Long pages have hundreds of elements with the same style inside
 * the same styles, hence with the same contrast, and computing it takes most of axe's time. The first three of each
 * kind are marked. An element that is positioned over others is a kind of its own.
 */
function markDistinctColors(): void {
  const EXAMPLES = 3
  const kindIds = new Map<string, number>()
  const kindOf = new Map<Element | null, number>()
  const examples = new Map<number, number>()
  for (const element of document.querySelectorAll('body, body *')) {
    const style = getComputedStyle(element)
    const control = element instanceof HTMLLabelElement ? element.control : element
    const text = [...element.childNodes].map((child) => (child.nodeType === 3 ? child.nodeValue!.trim() : ''))
    const traits = [
      kindOf.get(element.parentElement),
      element.localName,
      control?.matches(':disabled, [aria-disabled=true], [inert]'),
      // axe treats texts of one character differently.
      Math.min(text.join('').length, 2),
      element.checkVisibility(),
      style.color,
      style.backgroundColor,
      style.backgroundImage,
      style.opacity,
      style.filter,
      style.textShadow,
      style.fontSize,
      style.fontWeight,
      ['absolute', 'fixed', 'sticky'].includes(style.position) ? kindIds.size : '',
    ].join()
    const kind = kindIds.get(traits) ?? kindIds.size
    kindIds.set(traits, kind)
    kindOf.set(element, kind)
    examples.set(kind, (examples.get(kind) ?? 0) + 1)
    element.toggleAttribute('data-distinct-colors', examples.get(kind)! <= EXAMPLES)
  }
}

/** The elements that are too wide: the page, its menu unless it scrolls, and tables whose rows are cards. */
function overflowing(): string[] {
  const tables = innerWidth < 700 ? ', .scroll:has(> .becomes-cards)' : ''
  const menu = innerWidth > 832 ? '.bar nav, ' : ''
  const parts = document.querySelectorAll(`${menu}.prose .stacking${tables}`)
  const elements = [document.documentElement, ...parts]
  return elements.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.tagName)
}
