import '@wayleave/contract/styles/base.css'
import '@wayleave/contract/styles/layout.css'
import '@wayleave/contract/styles/controls.css'
import '@wayleave/contract/styles/tables.css'
import '@wayleave/contract/styles/content.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router'
import { queryClient } from './api/queries.ts'
import { router } from './router.tsx'

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
