// SPDX-License-Identifier: Apache-2.0
// A modal dialog (native <dialog>: focus trap and Esc come with it), as a box or as a drawer at the right.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icons';

export function Dialog(p: { title: string; onClose: () => void; drawer?: boolean; children: ComponentChildren }) {
	const ref = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const d = ref.current!;
		if (!d.open) d.showModal();
		return () => d.close();
	}, []);
	return (
		<dialog ref={ref} class={p.drawer ? 'drawer-dialog' : 'box-dialog'} aria-label={p.title} onClose={p.onClose}
			onClick={(e) => e.target === ref.current && p.onClose()}>
			<div class="dialog-in">
				<header class="panel-head">
					<h2>{p.title}</h2>
					<span class="grow" />
					<button type="button" class="btn quiet only small" aria-label="Close" onClick={p.onClose}><Icon name="cross" /></button>
				</header>
				<div class="dialog-body">{p.children}</div>
			</div>
		</dialog>
	);
}

/** Page-wide keys must not act while a dialog is open or a field has the focus. */
export function keysBlocked(e: KeyboardEvent): boolean {
	if (document.querySelector('dialog[open]')) return true;
	const t = e.target as HTMLElement | null;
	return !!t && (t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName));
}
