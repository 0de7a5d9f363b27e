import { lexer, type Token, type Tokens } from 'marked'
import { createElement, Fragment, type ReactNode } from 'react'
import { Scroll } from './scroll.tsx'
import { SiteLink } from './site-link.tsx'

/**
 * Markdown as elements. Texts come from publishers, so nothing in them becomes HTML: marks become elements of our
 * own, raw HTML is shown as text, links lead to pages of the service, web and mail addresses only, and images are
 * links, because pages load nothing from elsewhere.
 */
export default function Markdown({ source }: { source: string }) {
  return <div className="markdown">{parsed(source)}</div>
}

function parsed(source: string): ReactNode {
  try {
    return nodesOf(lexer(source))
  } catch {
    // Thousands of nested quotes or lists exceed the stack of the parser.
    return source
  }
}

function nodesOf(tokens: readonly Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((token, index) => <Fragment key={index}>{nodeOf(token)}</Fragment>)
}

function nodeOf(token: Token): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'heading':
      // The page has its own title and sections, so headings begin two levels deeper.
      return createElement(
        `h${Math.min(6, (token as Tokens.Heading).depth + 2)}`,
        null,
        nodesOf(token.tokens),
      )
    case 'paragraph':
      return <p dir="auto">{nodesOf(token.tokens)}</p>
    case 'blockquote':
      return <blockquote>{nodesOf(token.tokens)}</blockquote>
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      )
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>
    case 'strong':
      return <strong>{nodesOf(token.tokens)}</strong>
    case 'em':
      return <em>{nodesOf(token.tokens)}</em>
    case 'del':
      return <del>{nodesOf(token.tokens)}</del>
    case 'link':
      return <SafeLink href={(token as Tokens.Link).href}>{nodesOf(token.tokens)}</SafeLink>
    case 'image': {
      const { href, text } = token as Tokens.Image
      return <SafeLink href={href}>{text || href}</SafeLink>
    }
    case 'list':
      return <List list={token as Tokens.List} />
    case 'table':
      return <MarkdownTable table={token as Tokens.Table} />
    case 'html':
      return token.raw
    case 'escape':
      return (token as Tokens.Escape).text
    default:
      return 'tokens' in token && token.tokens ? nodesOf(token.tokens) : unescaped(token)
  }
}

/** Plain text; the parser leaves entities as they are. */
function unescaped(token: Token): string {
  const text = String((token as { text?: string }).text ?? token.raw)
  return text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]!,
  )
}

/** Only pages of the service, web and mail addresses: a text must not create a link that runs a script. */
function SafeLink({ href, children }: { href: string; children: ReactNode }) {
  if (/^\/(?![/\\])/.test(href)) return <SiteLink to={href}>{children}</SiteLink>
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return <>{children}</>
  return (
    <a href={href} target="_blank" rel="noreferrer nofollow">
      {children}
    </a>
  )
}

function List({ list: { ordered, start, items } }: { list: Tokens.List }) {
  const children = items.map((item, index) => <li key={index}>{nodesOf(item.tokens)}</li>)
  return ordered ? <ol start={start === '' ? 1 : start}>{children}</ol> : <ul>{children}</ul>
}

function MarkdownTable({ table: { header, rows } }: { table: Tokens.Table }) {
  return (
    <Scroll label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col">
                {nodesOf(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <td key={place}>{nodesOf(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
