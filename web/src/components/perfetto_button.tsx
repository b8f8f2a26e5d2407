// SPDX-License-Identifier: Apache-2.0
// "Open in Perfetto": the window opens in the click, then the export is fetched and handed over. When the browser
// blocks the window, a second button opens it with what was fetched. With a viewer of the server's own it is a link.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { server } from '../app/session';
import { getWithProgress, ApiError, isAbort } from '../lib/api';
import { bytes, pct } from '../lib/format';
import { exportUrl, handOver, MAX_BYTES, ownViewerUrl, viewerUrl } from '../lib/perfetto';
import type { Range } from '../lib/perfetto';
import { traceTitle } from '../lib/text';
import type { Trace } from '../lib/types';
import { Button, LinkButton } from './basics';
import { Icon } from './icons';

type Phase =
	| { is: 'idle' }
	| { is: 'loading'; got: number; total: number }
	| { is: 'waiting' }
	| { is: 'blocked'; buffer: ArrayBuffer }
	| { is: 'done' }
	| { is: 'failed'; why: string };

type Props = { trace: Trace; what: Range | null; children: ComponentChildren; small?: boolean; primary?: boolean };

export function PerfettoButton({ trace, what, children, small, primary }: Props) {
	const [phase, set] = useState<Phase>({ is: 'idle' });
	const ctl = useRef<AbortController | null>(null);
	const origin = server.value.perfetto_origin;
	useEffect(() => () => ctl.current?.abort(), []);
	if (server.value.perfetto_ui)
		return <LinkButton href={ownViewerUrl(trace.id, what)} icon="external" small={small} primary={primary} newWindow>{children}</LinkButton>;
	if (!origin) return null;
	const address = viewerUrl(origin, trace.t_base_ns, what);
	const file = `${traceTitle(trace).replace(/[^\w.-]+/g, '_')}${what ? '_range' : ''}.pftrace`;
	const give = async (w: Window, buffer: ArrayBuffer) => {
		set({ is: 'waiting' });
		await handOver(w, origin, buffer, traceTitle(trace), file);
		set({ is: 'done' });
		setTimeout(() => set({ is: 'idle' }), 3000);
	};
	const start = async () => {
		const w = window.open(address, '_blank'); // in the click: a browser blocks it later
		ctl.current?.abort();
		const c = (ctl.current = new AbortController());
		set({ is: 'loading', got: 0, total: 0 });
		try {
			const buffer = await getWithProgress(exportUrl(trace.id, what), MAX_BYTES, (got, total) => set({ is: 'loading', got, total }), c.signal);
			if (!w) set({ is: 'blocked', buffer });
			else await give(w, buffer);
		} catch (e) {
			if (isAbort(e)) return set({ is: 'idle' });
			w?.close();
			const big = e instanceof ApiError && e.code === 'too_large';
			set({ is: 'failed', why: big ? `The export is larger than ${bytes(MAX_BYTES)}, more than the viewer can hold. Select a range and open that.` : (e as Error).message });
		}
	};
	const again = async (buffer: ArrayBuffer) => {
		const w = window.open(address, '_blank');
		if (!w) return set({ is: 'failed', why: 'The browser still blocks the window. Allow pop-ups for this page.' });
		await give(w, buffer).catch((e: Error) => set({ is: 'failed', why: e.message }));
	};
	return (
		<span class="perfetto">
			<Button small={small} primary={primary} icon="external" disabled={phase.is === 'loading' || phase.is === 'waiting'} onClick={() => void start()}>
				{phase.is === 'loading' ? `Export ${phase.total ? pct((100 * phase.got) / phase.total, 0) : bytes(phase.got)}` : phase.is === 'waiting' ? 'Waiting for Perfetto' : phase.is === 'done' ? 'Handed over' : children}
			</Button>
			{(phase.is === 'blocked' || phase.is === 'failed') && (
				<span class="popover" role="alert">
					{phase.is === 'blocked' ? (
						<>
							<span>The browser blocked the new window. The export is ready ({bytes(phase.buffer.byteLength)}).</span>
							<Button small primary icon="external" onClick={() => void again(phase.buffer)}>Open the window</Button>
						</>
					) : <span><Icon name="failed" /> {phase.why}</span>}
					<Button small quiet icon="cross" label="Dismiss" onClick={() => set({ is: 'idle' })} />
				</span>
			)}
		</span>
	);
}
