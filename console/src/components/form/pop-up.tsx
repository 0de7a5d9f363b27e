import '../../styles/pop-up.css'
import { type CSSProperties, type ReactNode, useEffect, useId, useRef, useState } from 'react'

const MARGIN_PX = 8
/** With less room below, what opens stands above its button if there is more. */
const MIN_HEIGHT_PX = 320

/** A button and what it opens beside itself, above the page. Escape, a click elsewhere and scrolling close it. */
export function PopUp({
  className,
  label,
  title,
  button,
  isMenu = false,
  children,
}: {
  /** Of the button. */
  className: string
  /** Names the button for screen readers, if its content does not, and what it opens. */
  label: string
  title?: string
  button: ReactNode
  /** A menu stands below the end of its button; anything else below its beginning. */
  isMenu?: boolean
  children: (close: () => void) => ReactNode
}) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState<CSSProperties | null>(null)
  const isOpen = place !== null
  const close = () => {
    panel.current?.hidePopover()
    opener.current?.focus({ preventScroll: true })
  }
  useEffect(() => {
    if (!isOpen) return
    const { top } = opener.current!.getBoundingClientRect()
    const onMove = () => {
      if (opener.current?.getBoundingClientRect().top !== top) panel.current?.hidePopover()
    }
    addEventListener('scroll', onMove, true)
    addEventListener('resize', onMove)
    return () => {
      removeEventListener('scroll', onMove, true)
      removeEventListener('resize', onMove)
    }
  }, [isOpen])
  return (
    <>
      <button
        ref={opener}
        type="button"
        className={className}
        aria-label={label}
        title={title}
        aria-haspopup={isMenu ? 'menu' : 'dialog'}
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        className={isMenu ? 'pop-up menu' : 'pop-up'}
        {...{ role: isMenu ? 'menu' : 'dialog', 'aria-label': label }}
        style={place ?? undefined}
        onBeforeToggle={({ newState }) => {
          setPlace(newState === 'open' ? placeAt(opener.current!.getBoundingClientRect(), isMenu) : null)
        }}
        onToggle={({ newState }) => {
          if (newState === 'open') panel.current!.querySelector('button')?.focus({ preventScroll: true })
        }}
      >
        {isOpen && children(close)}
      </div>
    </>
  )
}

function placeAt({ left, right, top, bottom }: DOMRect, isAtEnd: boolean): CSSProperties {
  const { clientWidth: width, clientHeight: height } = document.documentElement
  const below = height - bottom - 2 * MARGIN_PX
  const isAbove = below < MIN_HEIGHT_PX && top > below
  return {
    ...(isAtEnd ? { right: Math.max(MARGIN_PX, width - right) } : { left: Math.max(MARGIN_PX, left) }),
    ...(isAbove
      ? { bottom: height - top + 4, maxHeight: top - 2 * MARGIN_PX }
      : { top: bottom + 4, maxHeight: below }),
  }
}
