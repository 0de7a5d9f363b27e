import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import http from 'highlight.js/lib/languages/http'
import ini from 'highlight.js/lib/languages/ini'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import r from 'highlight.js/lib/languages/r'
import sql from 'highlight.js/lib/languages/sql'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { escapeHtml } from '../../http/pages/html.ts'

const languages = { bash, css, http, ini, javascript, json, python, r, sql, xml, yaml }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)
hljs.registerAliases(['sh', 'console'], { languageName: 'bash' })
hljs.registerAliases(['js', 'mjs', 'ts', 'typescript'], { languageName: 'javascript' })
hljs.registerAliases(['html'], { languageName: 'xml' })
hljs.registerAliases(['cql2'], { languageName: 'sql' })

/** Code as HTML, with classes that server/src/site/styles/prose.css colors; unknown languages are plain text. */
export function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code)
  return hljs.highlight(code, { language, ignoreIllegals: true }).value
}
