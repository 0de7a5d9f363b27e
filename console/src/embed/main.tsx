import 'wayleave/styles/base.css'
import 'wayleave/styles/controls.css'
import 'wayleave/styles/tables.css'
import 'wayleave/styles/content.css'
import '../styles/explorer.css'
import '../styles/embed.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { queryClient } from '../api/query-client.ts'
import { EmbeddedMap } from './embedded-map.tsx'

// The site around the frame may want its own theme.
const theme = new URLSearchParams(location.search).get('theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme

const table = decodeURIComponent(location.pathname.split('/').at(-1) ?? '')

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <EmbeddedMap table={table} />
  </QueryClientProvider>,
)
