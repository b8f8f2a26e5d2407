// SPDX-License-Identifier: Apache-2.0
// A small panel under a button: a click or the focus elsewhere closes it, so does Esc, which then does nothing else.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export function usePopover<T extends HTMLElement>(): { open: boolean; set: (on: boolean) => void; ref: RefObject<T | null> } {
	const [open, set] = useState(false);
	const ref = useRef<T>(null);
	useEffect(() => {
		if (!open) return undefined;
		const outside = (e: Event) => {
			if (!ref.current?.contains(e.target as Node)) set(false);
		};
		// Before the page's own Esc, which clears what is selected.
		const key = (e: KeyboardEvent) => {
			if (e.key !== 'Escape') return;
			e.stopPropagation();
			set(false);
			ref.current?.querySelector('button')?.focus();
		};
		addEventListener('mousedown', outside, true);
		addEventListener('focusin', outside, true);
		addEventListener('keydown', key, true);
		return () => {
			removeEventListener('mousedown', outside, true);
			removeEventListener('focusin', outside, true);
			removeEventListener('keydown', key, true);
		};
	}, [open]);
	return { open, set, ref };
}
