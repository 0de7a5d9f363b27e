import { CopyButton } from './form/copy-button.tsx'

export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <section className="code" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} />
    </section>
  )
}
