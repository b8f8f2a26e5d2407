// SPDX-License-Identifier: Apache-2.0
// The user guide under Help: docs/guide/README.md lists the pages in its links; each page becomes guide/<name>.html, a
// fragment that the Help page shows, and guide/index.json lists them. Pages may also lie in docs/ itself (reference).
// A link between listed pages becomes a link inside Help; one to another file of the tree becomes plain text.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { Marked } from 'marked';

const escape = (s) => s.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
export const slug = (s) => s.toLowerCase().replace(/<[^>]*>|&[a-z]+;/g, '').replace(/[^\w]+/g, '-').replace(/^-|-$/g, '');
const nameOf = (file) => basename(file, '.md').toLowerCase();

/** [{ title: group, pages: [{ name, title, file }] }] of the list of contents. */
export function contents(docs) {
	const groups = [];
	for (const line of readFileSync(join(docs, 'guide/README.md'), 'utf8').split('\n')) {
		const head = /^## (.+)$/.exec(line);
		const item = /^- \[([^\]]+)\]\(([^)#]+\.md)\)/.exec(line);
		if (head) groups.push({ title: head[1], pages: [] });
		if (!item) continue;
		if (groups.length === 0) throw new Error('docs/guide/README.md: a page before the first group');
		const file = normalize(join('guide', item[2]));
		if (!existsSync(join(docs, file))) throw new Error(`docs/guide/README.md: ${item[2]} does not exist`);
		groups.at(-1).pages.push({ name: nameOf(file), title: item[1], file });
	}
	const names = groups.flatMap((g) => g.pages.map((p) => p.name));
	if (new Set(names).size !== names.length) throw new Error('docs/guide/README.md: two pages of one name');
	return groups;
}

function renderer(docs, out, page, known) {
	const image = (href) => {
		const bytes = readFileSync(join(docs, dirname(page.file), href));
		const name = `assets/${basename(href, '.png')}-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}.png`;
		writeFileSync(join(out, name), bytes);
		return '/' + name;
	};
	return {
		heading({ tokens, depth }) {
			const html = this.parser.parseInline(tokens);
			const id = slug(html);
			return `<h${depth} id="${id}"><a class="anchor" href="#${id}" aria-label="Link to this section">#</a>${html}</h${depth}>\n`;
		},
		link({ href, tokens }) {
			const html = this.parser.parseInline(tokens);
			if (/^https?:/.test(href)) return `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer">${html}</a>`;
			const [path, hash] = href.split('#');
			const hit = path ? known.get(normalize(join(dirname(page.file), path))) : page.name;
			const at = hash ? '#' + hash : '';
			if (hit) return `<a href="${hit === page.name && at ? at : `/help/${hit}${at}`}">${html}</a>`;
			if (href.startsWith('/')) return `<a href="${escape(href)}">${html}</a>`;
			return html; // a file of the source tree
		},
		image({ href, text }) {
			const img = (file, theme) => `<img src="${image(file)}" alt="${escape(text)}" loading="lazy"${theme ? ` class="${theme}"` : ''}>`;
			const dark = href.replace('-light.png', '-dark.png');
			if (dark === href || !existsSync(join(docs, dirname(page.file), dark))) return img(href);
			return img(href, 'in-light') + img(dark, 'in-dark');
		},
		code({ text, lang }) {
			const kind = /^\w+/.exec(lang ?? '')?.[0] ?? '';
			return `<pre tabindex="0"${kind === 'sh' ? ' class="sh"' : ''}><code>${escape(text)}</code></pre>\n`;
		},
		table(token) {
			const cell = (c, tag) => `<${tag}>${this.parser.parseInline(c.tokens)}</${tag}>`;
			const head = token.header.map((c) => cell(c, 'th')).join('');
			const rows = token.rows.map((r) => `<tr>${r.map((c) => cell(c, 'td')).join('')}</tr>`).join('\n');
			return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
		},
		html() {
			throw new Error(`${page.file}: no HTML in pages of the guide`);
		},
	};
}

export function buildGuide(docs, out) {
	const groups = contents(docs);
	const pages = groups.flatMap((g) => g.pages);
	const known = new Map(pages.map((p) => [p.file, p.name]));
	mkdirSync(join(out, 'guide'), { recursive: true });
	for (const page of pages) {
		const text = readFileSync(join(docs, page.file), 'utf8').replace(/<!--[\s\S]*?-->\n?/g, '');
		const marked = new Marked({ renderer: renderer(docs, out, page, known) });
		writeFileSync(join(out, 'guide', `${page.name}.html`), marked.parse(text));
	}
	const index = groups.map((g) => ({ title: g.title, pages: g.pages.map(({ name, title }) => ({ name, title })) }));
	writeFileSync(join(out, 'guide/index.json'), JSON.stringify(index));
}
