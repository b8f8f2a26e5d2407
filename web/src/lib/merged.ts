// SPDX-License-Identifier: Apache-2.0
// What a merged bucket says about itself. Pure.
import { int, pct } from './format';
import { kindNoun } from './kinds';

export function mergedText(h: { count: number; busy: number; kind: number }): string {
	return `${int(h.count)} ${kindNoun(h.kind, h.count)}, ${pct(h.busy * 100, 0)} busy`;
}
