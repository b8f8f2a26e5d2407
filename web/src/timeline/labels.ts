// SPDX-License-Identifier: Apache-2.0
// Text inside slices: widths of characters are measured once, names are cut to the pixels they have.

export const FONT_PX = 11;
export const MIN_LABEL_PX = 26;

export class TextFitter {
	private widths = new Map<number, number>();
	private dots: number;

	constructor(private measure: (s: string) => number) {
		this.dots = measure('…');
	}

	private width(code: number): number {
		let w = this.widths.get(code);
		if (w === undefined) this.widths.set(code, (w = this.measure(String.fromCodePoint(code))));
		return w;
	}

	textWidth(s: string): number {
		let w = 0;
		for (const c of s) w += this.width(c.codePointAt(0)!);
		return w;
	}

	/** `name` cut to `px`: at the end while there is room for few letters, in the middle when the end can be kept too. */
	fit(name: string, px: number): string {
		let w = 0;
		let n = 0;
		let whole = true;
		for (const c of name) {
			w += this.width(c.codePointAt(0)!);
			if (w > px) {
				whole = false;
				break;
			}
			n++;
		}
		if (whole) return name;
		const room = px - this.dots;
		if (room < 8) return '';
		return n >= 16 ? this.cutMiddle(name, room) : this.take(name, room) + '…';
	}

	private take(name: string, room: number): string {
		let w = 0;
		let out = '';
		for (const c of name) {
			w += this.width(c.codePointAt(0)!);
			if (w > room) break;
			out += c;
		}
		return out;
	}

	private cutMiddle(name: string, room: number): string {
		const head = this.take(name, room * 0.6);
		const rest = room - this.textWidth(head);
		const back = [...name].reverse().join('');
		return `${head}…${[...this.take(back, rest)].reverse().join('')}`;
	}
}
