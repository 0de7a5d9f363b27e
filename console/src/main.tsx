import 'wayleave/styles/base.css'
import 'wayleave/styles/layout.css'
import 'wayleave/styles/controls.css'
import 'wayleave/styles/tables.css'
import 'wayleave/styles/content.css'
import 'wayleave/styles/cards.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router'
import { queryClient } from './api/query-client.ts'
import { placeDocument } from './components/page/scroll-positions.ts'
import { router } from './router.tsx'

placeDocument()
createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
