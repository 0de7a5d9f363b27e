import type { Mail, MailLook } from './mail.ts'

/** What mail programs support: styles at the elements, and colors that also suit a dark background. */
const BODY = "margin:0;padding:24px 16px;font:16px/1.5 system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const PAGE = 'max-width:480px;margin:0 auto'
const NAME = 'margin:0 0 24px;font-size:14px;font-weight:600'
const HEADING = 'margin:0 0 16px;font-size:22px;line-height:1.3'
const PARAGRAPH = 'margin:0 0 16px'
const CODE = 'margin:0 0 16px;font:600 28px/1.3 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px'
const BUTTON = 'display:inline-block;padding:12px 20px;border-radius:6px;color:#ffffff;font-weight:600'
const FOOT = 'margin:32px 0 0;padding-top:16px;border-top:1px solid #9aa5a1;font-size:14px'

/** A mail as HTML. Every line is short and ASCII, so that it is sent as 7bit. */
export function mailHtml(mail: Mail, { service, accent }: MailLook, stopLabel: string): string {
  const { subject, before, after, link, label, unsubscribe } = mail
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(subject)}</title></head>`,
    `<body style="${BODY}"><div style="${PAGE}">`,
    `<p style="${NAME}">${escapeHtml(service)}</p>`,
    `<h1 style="${HEADING}">${escapeHtml(subject)}</h1>`,
    ...paragraphs(before),
    `<p style="margin:24px 0"><a style="${BUTTON};background:${accent};text-decoration:none"`,
    `href="${escapeHtml(link)}"`,
    `>${escapeHtml(label)}</a></p>`,
    ...paragraphs(after),
    ...(unsubscribe
      ? [`<p style="${FOOT}"><a`, `href="${escapeHtml(unsubscribe.page)}"`, `>${stopLabel}</a></p>`]
      : []),
    '</div></body></html>',
    '',
  ].join('\r\n')
}

function paragraphs(lines: readonly string[]): string[] {
  return lines
    .filter((line) => line !== '')
    .map((line) => `<p style="${/^\d{6}$/.test(line) ? CODE : PARAGRAPH}">${escapeHtml(line)}</p>`)
}

/** Replaces everything beyond ASCII by a character reference, so that the HTML is always 7bit. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']|[^\x20-\x7e]/gu, (character) => `&#${character.codePointAt(0)};`)
}
