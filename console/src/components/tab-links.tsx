import { type ReactNode, useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { revealCurrentTab } from './reveal-current-tab.ts'

/** Links to the parts of a page, which look like tabs. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  const list = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  useEffect(() => revealCurrentTab(list.current), [pathname])
  return (
    <nav ref={list} className="tabs" aria-label={label}>
      {children}
    </nav>
  )
}
