/** In a demo on this machine no mail leaves it, and the service tells the newest link; elsewhere, nothing. */
export async function demoLink(email: string): Promise<string | null> {
  const response = await fetch(`/v1/auth/demo-mail?${new URLSearchParams({ email })}`).catch(() => null)
  return response?.ok ? ((await response.json()) as { path: string }).path : null
}
