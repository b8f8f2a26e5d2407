// SPDX-License-Identifier: Apache-2.0
// Names of traces and of loss counters as people read them. Pure.
import type { Loss, Trace, TraceRow } from './types';
import { int } from './format';
import { splitLosses } from './losses';

export function traceTitle(t: Pick<Trace | TraceRow, 'job' | 'name' | 'rank' | 'world_size'>): string {
	const head = t.job || t.name;
	if (t.rank === null || t.rank === undefined || t.rank < 0) return head;
	return `${head}, rank ${t.rank}${worldSize(t) ? ` of ${worldSize(t)}` : ''}`;
}

export function worldSize(t: { world_size?: number | null }): number {
	return t.world_size && t.world_size > 0 ? t.world_size : 0;
}

/** "slice_overlap_kept" → "slice overlap kept" */
export function lossLabel(code: string): string {
	return code.replace(/_/g, ' ');
}

export function lossSummary(losses: readonly Loss[] | undefined): string {
	const { repairs, remarks } = splitLosses(losses);
	if (repairs.length === 0) return remarks.length === 0 ? 'no losses' : `no losses, ${int(remarks.length)} ${remarks.length === 1 ? 'remark' : 'remarks'}`;
	const events = repairs.reduce((a, l) => a + l.count, 0);
	return `${int(repairs.length)} ${repairs.length === 1 ? 'kind' : 'kinds'} of repair, ${int(events)} ${events === 1 ? 'event' : 'events'}`;
}

const FORMATS: Record<string, string> = {
	kineto: 'PyTorch profiler (Kineto JSON)',
	chrome_json: 'Chrome trace event JSON',
	perfetto: 'Perfetto protobuf',
	xplane: 'XLA XPlane',
	nsys: 'Nsight Systems SQLite',
};

/** The format that was found in the bytes, as people know it. */
export function formatLabel(format: string | null | undefined): string {
	if (!format) return '';
	return FORMATS[format] ?? format.replace(/_/g, ' ');
}

const STAGES: Record<string, string> = {
	queued: 'Waiting for a free indexer',
	reading: 'Reading',
	read: 'Reading',
	parse: 'Reading',
	segment: 'Writing the segment',
	analysis: 'Analysing',
	publish: 'Publishing',
};

export function stageLabel(stage: string | null | undefined): string {
	if (!stage) return 'Starting';
	return STAGES[stage] ?? stage.charAt(0).toUpperCase() + stage.slice(1).replace(/_/g, ' ');
}
