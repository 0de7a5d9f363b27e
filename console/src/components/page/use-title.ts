import { useEffect } from 'react'
import { site } from '../../site.ts'

/** Without a title, the page is called like the service. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? site.title : `${title} · ${site.title}`
  }, [title])
}
