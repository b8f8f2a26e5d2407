// SPDX-License-Identifier: Apache-2.0
// The guide under Help: pages made from docs/ at build time, shown here with their list and their sections.
import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText, Empty, ErrorPanel, Skeleton } from '../components/basics';
import { ApiError } from '../lib/api';

type Group = { title: string; pages: { name: string; title: string }[] };
type Section = { id: string; title: string };

async function read(name: string): Promise<Response> {
	const r = await fetch(`/guide/${name}`);
	if (!r.ok) throw new ApiError(`The guide could not be read (${r.status})`, r.status, `http_${r.status}`, r.headers.get('x-request-id'));
	return r;
}

/** A copy button beside each command; it belongs to the page, so it is made where the page is put in. */
function addCopyButtons(root: HTMLElement): void {
	for (const pre of root.querySelectorAll<HTMLPreElement>('pre.sh')) {
		const b = document.createElement('button');
		b.type = 'button';
		b.className = 'btn small copy';
		b.textContent = 'Copy';
		b.addEventListener('click', () => {
			void copyText(pre.querySelector('code')!.textContent ?? '').then((done) => {
				b.textContent = done ? 'Copied' : 'Press Ctrl+C';
				setTimeout(() => (b.textContent = 'Copy'), 2000);
			});
		});
		const box = document.createElement('div');
		box.className = 'command-box';
		pre.replaceWith(box);
		box.append(pre, b);
	}
}

function Article({ html, onSections }: { html: string; onSections: (s: Section[]) => void }) {
	const ref = useRef<HTMLElement>(null);
	useEffect(() => {
		const root = ref.current!;
		root.innerHTML = html; // made by our own build from docs/, nothing of a user is in it
		addCopyButtons(root);
		onSections([...root.querySelectorAll('h2')].map((h) => ({ id: h.id, title: (h.textContent ?? '').replace(/^#/, '') })));
		const at = location.hash && document.getElementById(location.hash.slice(1));
		if (at) at.scrollIntoView();
	}, [html]);
	return <article ref={ref} class="guide-text" />;
}

export function GuidePage({ name }: { name: string }) {
	const [groups, setGroups] = useState<Group[]>();
	const [page, setPage] = useState<{ name: string; html?: string; error?: Error }>();
	const [sections, setSections] = useState<Section[]>([]);
	const shown = name || groups?.[0]?.pages[0]?.name || '';
	useEffect(() => {
		read('index.json').then((r) => r.json()).then(setGroups, (error: Error) => setPage({ name: '', error }));
	}, []);
	const known = groups?.some((g) => g.pages.some((p) => p.name === shown));
	useEffect(() => {
		if (!known) return;
		let live = true;
		read(`${shown}.html`).then((r) => r.text()).then(
			(html) => live && setPage({ name: shown, html }),
			(error: Error) => live && setPage({ name: shown, error }),
		);
		return () => void (live = false);
	}, [shown, known]);
	useEffect(() => {
		const title = groups?.flatMap((g) => g.pages).find((p) => p.name === shown)?.title;
		document.title = title ? `${title} · Help · Fleetscope` : 'Help · Fleetscope';
	}, [groups, shown]);
	if (page?.error) return <ErrorPanel error={page.error} what="The guide could not be shown" retry={() => location.reload()} />;
	if (!groups) return <Skeleton rows={8} />;
	return (
		<div class="guide">
			<nav class="guide-pages" aria-label="Pages of the guide">
				{groups.map((g) => (
					<section key={g.title}>
						<h2>{g.title}</h2>
						<ul>{g.pages.map((p) => <li key={p.name}><a href={`/help/${p.name}`} aria-current={p.name === shown ? 'page' : undefined}>{p.title}</a></li>)}</ul>
					</section>
				))}
			</nav>
			{!known ? <Empty title="No such page"><p><a href="/help">The guide</a></p></Empty>
				: page?.name === shown && page.html !== undefined ? <Article html={page.html} onSections={setSections} />
				: <Skeleton rows={8} />}
			<nav class="guide-sections" aria-label="Sections of this page">
				{known && sections.length > 1 && (
					<>
						<h2>On this page</h2>
						<ul>{sections.map((s) => <li key={s.id}><a href={`#${s.id}`}>{s.title}</a></li>)}</ul>
					</>
				)}
			</nav>
		</div>
	);
}
