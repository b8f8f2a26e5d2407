// SPDX-License-Identifier: Apache-2.0
// Light, dark or as the system says; the choice is kept in this browser.
import { computed, signal } from '@preact/signals';

export type Choice = 'system' | 'light' | 'dark';
const KEY = 'fleetscope.theme';
const media = matchMedia('(prefers-color-scheme: dark)');

function stored(): Choice {
	try {
		const v = localStorage.getItem(KEY);
		return v === 'light' || v === 'dark' ? v : 'system';
	} catch {
		return 'system'; // storage can be switched off
	}
}

export const choice = signal<Choice>(stored());
const systemDark = signal(media.matches);
export const dark = computed(() => (choice.value === 'system' ? systemDark.value : choice.value === 'dark'));

export function setTheme(c: Choice): void {
	choice.value = c;
	try {
		if (c === 'system') localStorage.removeItem(KEY);
		else localStorage.setItem(KEY, c);
	} catch {
		// The choice then lasts as long as the page.
	}
}

export function startTheme(): void {
	media.addEventListener('change', () => (systemDark.value = media.matches));
	dark.subscribe((d) => document.documentElement.setAttribute('data-theme', d ? 'dark' : 'light'));
}
