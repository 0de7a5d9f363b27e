import { lazy, Suspense } from 'react'

const Markdown = lazy(() => import('../components/markdown.tsx'))

/** Plain sentences need no parser, which is loaded only for the others. */
const MARKS = /[*_`#[\]<>\\|~&]|\n|^\s*(?:\d+[.)]|[-+])\s|https?:/

/** What the publisher says about the dataset, in Markdown. */
export function DatasetDescription({ text }: { text: string }) {
  const plain = <p dir="auto">{text}</p>
  if (text === '' || !MARKS.test(text)) return plain
  return (
    <Suspense fallback={plain}>
      <Markdown source={text} />
    </Suspense>
  )
}
