import type { About } from '../about.ts'
import { html } from '../pages/html.ts'
import { plainPage } from '../pages/page-layout.ts'
import { timeText } from '../pages/time-text.ts'

export interface Status {
  /** `stopping` while the server drains. */
  state: 'ready' | 'not-ready' | 'stopping'
  /** What does not work, each with a sentence for people. */
  failed: { check: string; detail: string }[]
  version: string
  startedAt: Date
  now: Date
  datasets: number | null
}

const SENTENCES = {
  ready: 'Everything works.',
  'not-ready': 'A part of the service does not work.',
  stopping: 'This node is stopping. Others may serve.',
} as const

/** The state of this node for people. Public: it shows neither addresses nor paths, names nor messages of errors. */
export function statusPage(
  { state, failed, version, startedAt, now, datasets }: Status,
  about: About,
): string {
  const failures = failed.map(({ check, detail }) => html`<li><strong>${check}</strong>: ${detail}</li>`)
  const content = html`<h1>Status</h1>
<p class="note ${state === 'ready' ? 'good' : 'warn'}"><strong>${SENTENCES[state]}</strong></p>
${failures.length > 0 ? html`<ul>${failures}</ul>` : ''}
<dl class="facts">
<dt>Version</dt><dd>${version}</dd>
<dt>Running</dt><dd>${durationText(now.getTime() - startedAt.getTime())}</dd>
${datasets === null ? '' : html`<dt>Datasets</dt><dd>${datasets}</dd>`}
<dt>Checked</dt><dd>${timeText(now.toISOString())}</dd>
</dl>
<p>For programs: <a href="/health">/health</a> and <a href="/ready">/ready</a>.</p>`
  return plainPage({ about, title: 'Status', content })
}

/** The two largest units, such as `3 days 4 hours`. */
function durationText(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000)
  const units: [number, string][] = [
    [Math.floor(minutes / 1440), 'day'],
    [Math.floor(minutes / 60) % 24, 'hour'],
    [minutes % 60, 'minute'],
  ]
  const first = units.findIndex(([count]) => count > 0)
  if (first === -1) return 'less than a minute'
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`)
    .join(' ')
}
