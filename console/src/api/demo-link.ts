import { site } from '../site.ts'

/** In a local demo no mail is sent, and the service returns the newest link; otherwise there is none. */
export async function demoLink(email: string): Promise<string | null> {
  if (!site.showsMails) return null
  const response = await fetch(`/v1/auth/demo-mail?${new URLSearchParams({ email })}`).catch(() => null)
  return response?.ok ? ((await response.json()) as { path: string }).path : null
}
