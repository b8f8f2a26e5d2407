// SPDX-License-Identifier: Apache-2.0
// Analysis of one trace: breakdown per device, steps, kernels. The scope of steps lives in the URL.
import { query, setQuery } from '../app/router';
import { Empty, ErrorPanel, Panel, Skeleton } from '../components/basics';
import { Failure } from '../components/failure';
import { LossTable } from '../components/losses';
import { getJson } from '../lib/api';
import { dur, fixed, int, pct, plural } from '../lib/format';
import { useLoad } from '../lib/load';
import type { Analysis, Trace } from '../lib/types';
import { Breakdown } from './breakdown';
import { KernelPanel } from './kernels';
import { quantile } from './parts';
import { ScopePicker } from './scope';
import { StepChart } from './steps';

export function AnalysisPage({ trace }: { trace: Trace }) {
	const scope = new URLSearchParams(query.value).get('steps') ?? 'all';
	const a = useLoad<Analysis>(`${trace.id} ${scope}`, (s) => getJson(`/traces/${trace.id}/analysis`, { steps: scope }, s));
	const whole = useLoad<Analysis['steps']>(`${trace.id} steps`, async (s) => {
		const r = await getJson<{ items?: Analysis['steps']; steps?: Analysis['steps'] }>(`/traces/${trace.id}/steps`, undefined, s);
		return r.items ?? r.steps ?? [];
	});
	const setScope = (v: string) => {
		const p = new URLSearchParams(query.value);
		if (v === 'all') p.delete('steps');
		else p.set('steps', v);
		const q = p.toString();
		setQuery(q ? `?${q}` : '', 'push');
	};
	if (a.error && !a.data) return <div class="page"><Failure error={a.error} what="The analysis could not be loaded" retry={a.reload} /></div>;
	if (!a.data) return <div class="page"><Skeleton rows={10} /></div>;
	const steps = whole.data ?? a.data.steps;
	return (
		<div class="page analysis">
			{a.error && <ErrorPanel error={a.error} what="The analysis of these steps could not be loaded" retry={a.reload} />}
			<div class="an-top">
				<Headline a={a.data} />
				{steps.length > 1 && <ScopePicker steps={steps} value={scope} onChange={setScope} />}
			</div>
			<div class={`an-grid ${a.loading && a.data ? 'stale' : ''}`}>
				<Panel title="Temporal breakdown per device" note="share of the GPU window, parts add up to 100 %" class="wide">
					{a.data.devices.length > 0 ? <Breakdown a={a.data} /> : <Empty title="No GPU work"><p>This trace has no kernels, copies or sets, so there is nothing to break down.</p></Empty>}
				</Panel>
				<Panel title="Step time" note={stepNote(a.data)} class="narrow">
					{a.data.steps.length > 0 ? <StepChart steps={a.data.steps} traceId={trace.id} /> : <Empty title="No steps"><p>The file has no ProfilerStep ranges, nor steps that a serving engine marks. Call <code>prof.step()</code> after each step to get them.</p></Empty>}
				</Panel>
			</div>
			<div class={`an-grid second ${a.loading ? 'stale' : ''}`}>
				<KernelPanel a={a.data} trace={trace} scope={scope} />
				<Panel title="Repairs and losses" note="while reading the file">
					<div class="pad losses-pad"><LossTable losses={a.data.losses ?? trace.losses ?? []} /><LaunchFacts t={trace} /></div>
				</Panel>
			</div>
		</div>
	);
}

function stepNote(a: Analysis): string {
	const d = a.steps.map((s) => s.dur_ns);
	if (d.length === 0) return '';
	return `${plural(d.length, 'step')}, median ${dur(quantile(d, 0.5))}, p95 ${dur(quantile(d, 0.95))}`;
}

/** The numbers that come first: what the devices together did with their time. */
function Headline({ a }: { a: Analysis }) {
	if (a.devices.length === 0) return <div class="headline" />;
	const sum = (f: (d: Analysis['devices'][number]) => number) => a.devices.reduce((x, d) => x + f(d), 0);
	const window = sum((d) => d.window_ns);
	const share = (ns: number) => pct((100 * ns) / window);
	const launches = a.kernels.reduce((x, k) => x + k.count, 0);
	const cells: [string, string][] = [
		['GPU busy', share(sum((d) => d.busy_ns))],
		['compute', share(sum((d) => d.compute_ns))],
		['exposed communication', share(sum((d) => d.exposed_comm_ns))],
		['idle', share(sum((d) => d.idle_ns))],
		['kernels and copies', int(launches)],
		['mean of them', launches ? `${fixed(a.kernels.reduce((x, k) => x + k.sum_ns, 0) / launches / 1000, 1)} µs` : ''],
	];
	return (
		<dl class="headline">
			{cells.filter(([, v]) => v).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}
		</dl>
	);
}

function LaunchFacts({ t }: { t: Trace }) {
	const l = t.launch;
	if (!l || l.pairs + l.none + l.ambiguous === 0) return null;
	return (
		<dl class="facts">
			<div><dt>Kernels with their launch</dt><dd>{int(l.pairs)}</dd></div>
			<div><dt>without a launch in the file</dt><dd>{int(l.none)}</dd></div>
			<div><dt>with more than one candidate</dt><dd>{int(l.ambiguous)}</dd></div>
		</dl>
	);
}
