// SPDX-License-Identifier: Apache-2.0
// Icons of 16 px, drawn here so that the strict content policy needs no exception.
import type { ComponentChildren } from 'preact';

const PATHS: Record<string, ComponentChildren> = {
	search: <><circle cx="7" cy="7" r="4.5" /><path d="M10.5 10.5 14 14" /></>,
	moon: <path d="M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6Z" />,
	sun: <><circle cx="8" cy="8" r="2.8" /><path d="M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1" /></>,
	help: <><circle cx="8" cy="8" r="6" /><path d="M6.3 6.2a1.8 1.8 0 1 1 2.5 1.7c-.6.3-.8.6-.8 1.2M8 11.2v.3" /></>,
	upload: <path d="M8 10.5V2.8M4.8 6 8 2.8 11.2 6M2.8 13h10.4" />,
	download: <path d="M8 2.8v7.7M4.8 7.3 8 10.5l3.2-3.2M2.8 13h10.4" />,
	link: <path d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.1-2.1a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.4 8.9a2.6 2.6 0 0 0 3.7 3.7l.8-.8" />,
	external: <path d="M9.5 2.8h3.7v3.7M13 3 7.6 8.4M11.5 9v3.2a1 1 0 0 1-1 1H3.8a1 1 0 0 1-1-1V5.5a1 1 0 0 1 1-1H7" />,
	warn: <><path d="M8 2.2 14.3 13H1.7L8 2.2Z" /><path d="M8 6.4v3M8 11v.2" /></>,
	check: <path d="m3 8.6 3.2 3.2L13 4.6" />,
	cross: <path d="m4 4 8 8M12 4l-8 8" />,
	failed: <><circle cx="8" cy="8" r="6" /><path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4" /></>,
	clock: <><circle cx="8" cy="8" r="6" /><path d="M8 4.6V8l2.2 1.6" /></>,
	down: <path d="m4 6 4 4 4-4" />,
	right: <path d="m6 4 4 4-4 4" />,
	left: <path d="m10 4-4 4 4 4" />,
	up: <path d="m4 10 4-4 4 4" />,
	minus: <path d="M3 8h10" />,
	plus: <path d="M8 3v10M3 8h10" />,
	fit: <path d="M2 3.5v9M14 3.5v9M4.5 8h7M6.5 5.8 4.3 8l2.2 2.2M9.5 5.8 11.7 8l-2.2 2.2" />,
	pin: <path d="M5.2 2.5h5.6M6.2 2.5v4L4.6 9.4h6.8L9.8 6.5v-4M8 9.4v4.2" />,
	user: <><circle cx="8" cy="5.6" r="2.7" /><path d="M2.9 13.6c.6-2.7 2.6-4 5.1-4s4.5 1.3 5.1 4" /></>,
	file: <path d="M4 2h5l3 3v9H4V2ZM9 2v3h3" />,
	sortDown: <path d="M8 3v10M4.5 9.5 8 13l3.5-3.5" />,
	sortUp: <path d="M8 13V3M4.5 6.5 8 3l3.5 3.5" />,
	retry: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3" />,
	trash: <path d="M2.8 4.3h10.4M6 4.3V2.6h4v1.7M4.2 4.3l.6 9h6.4l.6-9" />,
	more: <><circle cx="3.5" cy="8" r="0.7" /><circle cx="8" cy="8" r="0.7" /><circle cx="12.5" cy="8" r="0.7" /></>,
	note: <path d="M3 2.5h10v7.2L9.2 13.5H3v-11ZM13 9.7H9.2v3.8M5.5 5.5h5M5.5 8h3" />,
	edit: <path d="m3 13 .8-3L10.6 3.2l2.2 2.2L6 12.2 3 13ZM9 4.8 11.2 7" />,
	copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1" /><path d="M10.5 5.5v-3h-8v8h3" /></>,
};

export type IconName = keyof typeof PATHS & string;

export function Icon({ name, size = 16, class: cls }: { name: string; size?: number; class?: string }) {
	return (
		<svg class={`icon ${cls ?? ''}`} width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor"
			stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
			{PATHS[name]}
		</svg>
	);
}

export function Logo() {
	return (
		<svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true" class="logo">
			<rect x="0" y="2" width="9" height="3.4" rx="1" class="l1" />
			<rect x="4" y="6.3" width="12" height="3.4" rx="1" class="l2" />
			<rect x="2" y="10.6" width="8" height="3.4" rx="1" class="l3" />
		</svg>
	);
}
