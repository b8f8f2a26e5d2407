// SPDX-License-Identifier: Apache-2.0
// How many requests are under way: the thin bar at the top of the page.
import { signal } from '@preact/signals';

export const pending = signal(0);

/** Counts one request; the function it gives back ends it, once. */
export function busy(): () => void {
	let open = true;
	pending.value++;
	return () => {
		if (open) pending.value--;
		open = false;
	};
}
