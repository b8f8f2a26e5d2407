// SPDX-License-Identifier: Apache-2.0
// The list of keys. One table, so that help and behaviour are looked up in the same place.
import { Dialog } from '../components/dialog';
import { server } from './session';

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
	['Move', [
		['W  S', 'zoom in and out at the pointer'],
		['A  D', 'pan left and right'],
		['Ctrl + wheel', 'zoom at the pointer'],
		['Shift + wheel', 'pan; the plain wheel scrolls the tracks'],
		['F', 'fit the selected slice or range'],
		['0', 'whole trace'],
	]],
	['Select', [
		['drag', 'select a range of time'],
		['click', 'select a slice'],
		['← → ↑ ↓', 'neighbour of the selected slice'],
		['[  ]', 'along the flow: to what launched it, to what it launches'],
		['{  }', 'previous and next slice of the same name'],
		['M', 'mark the selected slice or the view as range'],
		['N', 'note on the range, the selected slice or the view'],
		['P', 'pin the track of the selected slice'],
		['Esc', 'clear selection, range, search'],
	]],
	['Find', [
		['/', 'search: in the trace, or over all traces'],
		['Enter', 'next hit; Shift + Enter previous hit'],
		['?', 'this help'],
	]],
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
	return (
		<Dialog title="Keys" onClose={onClose}>
			<div class="help-keys">
				{KEYS.map(([title, rows]) => (
					<section key={title}>
						<h3>{title}</h3>
						<dl>
							{rows.map(([k, what]) => (
								<div key={k}>
									<dt>{k.split('  ').map((x) => <kbd key={x}>{x}</kbd>)}</dt>
									<dd>{what}</dd>
								</div>
							))}
						</dl>
					</section>
				))}
			</div>
			<p><a href="/help" onClick={onClose}>Read the guide</a>: the first trace, reading the timeline, operating a server.</p>
			<p class="dim">W, A, S and D go by their place on the keyboard, whatever the layout. {server.value.version && `Server ${server.value.version}.`}</p>
		</Dialog>
	);
}
