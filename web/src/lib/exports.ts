// SPDX-License-Identifier: Apache-2.0
// Formats that a trace can be had in; server/api/openapi.json has the same list.
import { API } from './api';

export const FORMATS = [
	{ name: 'perfetto', title: 'Perfetto', what: 'protobuf, for the Perfetto UI' },
	{ name: 'chrome', title: 'Chrome JSON', what: 'as profilers write it, exact to the ns' },
	{ name: 'csv', title: 'CSV', what: 'one row for each slice' },
] as const;

/** A download: exactly the slices that touch the range. */
export function downloadUrl(traceId: string, format: (typeof FORMATS)[number]['name'], range: { t0: number; t1: number } | null): string {
	const base = `${API}/traces/${encodeURIComponent(traceId)}/export/${format}`;
	return range ? `${base}?t0=${Math.floor(range.t0)}&t1=${Math.ceil(range.t1)}` : base;
}
