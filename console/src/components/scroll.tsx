import type { ReactNode } from 'react'

/** A wide table scrolls by itself, also by keyboard. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
