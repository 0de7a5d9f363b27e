import { useEffect, useState } from 'react'

export function CopyButton({
  text,
  label = 'Copy',
  onCopy,
}: {
  text: string
  label?: string
  onCopy?: () => void
}) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), 2500)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
      onCopy?.()
    } catch {
      // Browsers allow clipboard access only in secure contexts.
      setState('failed')
    }
  }
  return (
    <button type="button" className="button small" onClick={copy}>
      <span aria-live="polite">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Select and copy' : label}
      </span>
    </button>
  )
}
