// Preloaded into a client that can't be told which headers to send: adds the token to each request of the process, and
// changes nothing else of it, as something between the two would. The server always wants a token.

import { subscribe } from "node:diagnostics_channel";

const authorization = `Bearer ${process.env.TOKEN}`;
subscribe("undici:request:create", ({ request }) => request.addHeader("Authorization", authorization));
subscribe("http.client.request.created", ({ request }) => request.setHeader("Authorization", authorization));
