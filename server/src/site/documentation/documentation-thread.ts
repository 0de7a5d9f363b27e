/** The entry of the thread that renders the documentation: see `RenderedTexts`. */
import { performRequests } from '@wayleave/geodata/base'
import type { ProblemCode } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import { Documentation } from './documentation.ts'

export interface DocumentationRequest {
  about: About
  wanted: { page: string } | { problem: ProblemCode } | 'search index'
}

performRequests(
  ({ about, wanted }: DocumentationRequest) => {
    const documentation = new Documentation(about)
    if (wanted === 'search index') return documentation.searchIndex()
    return 'page' in wanted ? documentation.page(wanted.page) : documentation.problem(wanted.problem)
  },
  () => [],
)
