// SPDX-License-Identifier: Apache-2.0
export function lossWords(markdown: string): Record<string, { what: string; kept?: string }>;
export function buildLosses(docs: string, out: string): void;
