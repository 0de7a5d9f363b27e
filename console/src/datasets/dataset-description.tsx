import { lazy, Suspense } from 'react'
import { withoutMarks } from '../words.ts'

const Markdown = lazy(() => import('../components/markdown.tsx'))

/** Plain sentences need no parser, which is loaded only for the others. */
const MARKS = /[*_`#[\]<>\\|~&]|\n|^\s*(?:\d+[.)]|[-+])\s|https?:/

/** What the publisher says about the dataset, in Markdown. */
export function DatasetDescription({ text }: { text: string }) {
  if (text === '' || !MARKS.test(text)) return <p dir="auto">{text}</p>
  return (
    // Until the parser is there, the words have the room that they will have.
    <Suspense fallback={<p dir="auto">{withoutMarks(text)}</p>}>
      <Markdown source={text} />
    </Suspense>
  )
}
