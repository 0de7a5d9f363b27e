import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

const MAX_PRESSES = 150

/** Uses a page as someone without a mouse does. Whatever gets the focus has to show it. */
export class Keyboard {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key)
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text)
  }

  /** Presses Tab until the element has the focus. */
  async tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    for (let presses = 0; presses < MAX_PRESSES; presses++) {
      if (await target.evaluate((element) => element === document.activeElement)) return
      await this.press(key)
      assert.equal(await this.#page.evaluate(hiddenFocus), null, 'an element does not show its focus')
    }
    assert.fail(`The keyboard does not reach ${target}.`)
  }

  /** Goes to an element and activates it. */
  async enter(target: Locator): Promise<void> {
    await this.tabTo(target)
    await this.press('Enter')
  }
}

/** The focused element if nothing shows that it has the focus, else null. */
function hiddenFocus(): string | null {
  const element = document.activeElement
  if (!element || element === document.body) return null
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { width, height, top, bottom, left, right } = element.getBoundingClientRect()
  const isInView =
    width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
  const isMarked = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
  return isInView && isMarked ? null : element.outerHTML.slice(0, 300)
}
