// SPDX-License-Identifier: Apache-2.0
// Login with a token; goes back to where the 401 came from.
import { useEffect, useState } from 'preact/hooks';
import { navigate, query } from '../app/router';
import { refreshSession } from '../app/session';
import { Icon, Logo } from '../components/icons';
import type { ApiError } from '../lib/api';
import { getJson, send } from '../lib/api';
import { safeNext } from '../lib/next';
import type { WhoAmI } from '../lib/types';

function goOn(): void {
	navigate(safeNext(new URLSearchParams(query.value).get('next')), 'replace');
	void refreshSession();
}

export function LoginPage() {
	const [token, setToken] = useState('');
	const [error, setError] = useState('');
	const [busy, setBusy] = useState(false);
	useEffect(() => {
		// Whom a proxy has named already needs no token.
		getJson<WhoAmI>('/whoami').then((w) => {
			if (w.via === 'proxy') goOn();
		}).catch(() => {});
	}, []);
	const submit = async (e: Event) => {
		e.preventDefault();
		setBusy(true);
		setError('');
		try {
			await send('POST', '/login', { token: token.trim() });
			goOn();
		} catch (x) {
			const e2 = x as ApiError;
			setError(e2.status === 401 ? 'This token is not valid, or it was revoked.' : `${e2.message}.${e2.requestId ? ` Request ${e2.requestId}.` : ''}`);
		} finally {
			setBusy(false);
		}
	};
	return (
		<main class="login" id="main">
			<form class="panel" onSubmit={(e) => void submit(e)}>
				<h1 class="brand"><Logo />Fleetscope</h1>
				<label for="token">Access token</label>
				<input id="token" type="password" autocomplete="current-password" value={token} required
					aria-invalid={!!error} aria-describedby="login-note" onInput={(e) => setToken(e.currentTarget.value)} />
				{error && <p class="field-error" role="alert"><Icon name="failed" />{error}</p>}
				<button class="btn primary" type="submit" disabled={busy || !token.trim()}>{busy ? 'Signing in' : 'Sign in'}</button>
				<p class="dim" id="login-note">The server prints the first token when it starts on an empty data folder. More: <code>fleetscope-server token</code>.</p>
			</form>
		</main>
	);
}
