export function bodyCode(json: string): Record<'curl' | 'python' | 'javascript', string>
