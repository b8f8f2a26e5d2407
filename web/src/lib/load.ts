// SPDX-License-Identifier: Apache-2.0
// A value that comes from the server: old content stays while the new one loads, failures keep it too.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isAbort } from './api';
import { busy } from './busy';

export type Loaded<T> = { data: T | null; error: Error | null; loading: boolean; reload: () => void };

/** Runs `f` whenever `key` changes; an older call is aborted. `null` as key: nothing to load. */
export function useLoad<T>(key: string | null, f: (signal: AbortSignal) => Promise<T>): Loaded<T> {
	const [state, set] = useState<{ data: T | null; error: Error | null; loading: boolean }>({
		data: null,
		error: null,
		loading: key !== null,
	});
	const [turn, setTurn] = useState(0);
	const latest = useRef(f);
	latest.current = f;
	useEffect(() => {
		if (key === null) return undefined;
		const ctl = new AbortController();
		const done = busy();
		set((s) => ({ ...s, loading: true }));
		latest
			.current(ctl.signal)
			.then((data) => set({ data, error: null, loading: false }))
			.catch((e: unknown) => {
				if (isAbort(e) || ctl.signal.aborted) return;
				set((s) => ({ data: s.data, error: e as Error, loading: false }));
			})
			.finally(done);
		return () => ctl.abort();
	}, [key, turn]);
	const reload = useMemo(() => () => setTurn((t) => t + 1), []);
	return { ...state, reload };
}

/** Calls `f` every `ms` while `on`, not while the page is hidden. */
export function useInterval(on: boolean, ms: number, f: () => void): void {
	const latest = useRef(f);
	latest.current = f;
	useEffect(() => {
		if (!on) return undefined;
		const t = setInterval(() => document.hidden || latest.current(), ms);
		return () => clearInterval(t);
	}, [on, ms]);
}
