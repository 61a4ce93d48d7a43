--
-- PostgreSQL database dump
--

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

-- Name: airlock; Type: SCHEMA; Schema: -; Owner: -

CREATE SCHEMA airlock;

SET default_tablespace = '';

SET default_table_access_method = heap;

-- Name: actions; Type: TABLE; Schema: airlock; Owner: -

CREATE TABLE airlock.actions (
    id text NOT NULL COLLATE pg_catalog."C",
    session bytea NOT NULL,
    session_id text NOT NULL,
    "position" bigint NOT NULL,
    open boolean DEFAULT true NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL COLLATE pg_catalog."C",
    interrupted boolean DEFAULT false NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    label text NOT NULL,
    source_tool_name text NOT NULL,
    details text,
    has_reject boolean NOT NULL,
    durable boolean NOT NULL,
    plugin text NOT NULL COLLATE pg_catalog."C",
    grants text NOT NULL,
    workspace bytea,
    pushed_at bigint NOT NULL,
    guest_state bytea,
    owner bytea,
    token bigint DEFAULT 0 NOT NULL,
    nonce bytea,
    holder text,
    leased_at timestamp with time zone,
    lease_until timestamp with time zone,
    decision text COLLATE pg_catalog."C",
    reason text,
    extra text,
    decided_by text,
    resolved_at timestamp with time zone,
    resolved_order bigint,
    result text,
    error text
)
WITH (fillfactor='70');

-- Name: hosts; Type: TABLE; Schema: airlock; Owner: -

CREATE TABLE airlock.hosts (
    id bytea NOT NULL,
    name text NOT NULL,
    alive_until timestamp with time zone NOT NULL
);

-- Name: meta; Type: TABLE; Schema: airlock; Owner: -

CREATE TABLE airlock.meta (
    name text NOT NULL,
    value text NOT NULL
);

-- Name: plugins; Type: TABLE; Schema: airlock; Owner: -

CREATE TABLE airlock.plugins (
    digest text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    bytes bytea NOT NULL,
    added_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY airlock.plugins ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Name: resolved_order; Type: SEQUENCE; Schema: airlock; Owner: -

CREATE SEQUENCE airlock.resolved_order
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

-- Name: sessions; Type: TABLE; Schema: airlock; Owner: -

CREATE TABLE airlock.sessions (
    key bytea NOT NULL,
    id text NOT NULL,
    open bigint NOT NULL,
    top bigint NOT NULL
)
WITH (fillfactor='50');

-- Data for Name: actions; Type: TABLE DATA; Schema: airlock; Owner: -

INSERT INTO airlock.actions (id, session, session_id, "position", open, state, interrupted, attempts, last_error, label, source_tool_name, details, has_reject, durable, plugin, grants, workspace, pushed_at, guest_state, owner, token, nonce, holder, leased_at, lease_until, decision, reason, extra, decided_by, resolved_at, resolved_order, result, error) VALUES ('01a20461-ebb4-7471-84fa-6ea92773ad03', '\x602ce87d9a14a067687ab2d0a73ead9f', 'workspace:/tmp/photos', 1, false, 'applied', false, 1, NULL, 'Bench: 1 items', 'bench', NULL, true, true, 'sha256:9ac8db2b2f68ca23abcdb8f98feec9f629f7cb306367e371c7f77ab07250a62f', '{"workspace":"read-write"}', '\x2f746d702f70686f746f73', 1795369855924063491, NULL, NULL, 1, NULL, 'vm/464', '2026-11-22 17:50:56.122006+00', NULL, 'apply', 'as previewed', '{"ticket":7}', 'uid0@vm', '2026-11-22 17:50:56.137525+00', 1, 'sha256:49f58a80ac8ad1e3ea5c5656ec20a7b8112a04cb87de0349271d3191b59790af', NULL);
INSERT INTO airlock.actions (id, session, session_id, "position", open, state, interrupted, attempts, last_error, label, source_tool_name, details, has_reject, durable, plugin, grants, workspace, pushed_at, guest_state, owner, token, nonce, holder, leased_at, lease_until, decision, reason, extra, decided_by, resolved_at, resolved_order, result, error) VALUES ('01a20461-ecaf-7c99-a49b-22b9ead6cfe4', '\x602ce87d9a14a067687ab2d0a73ead9f', 'workspace:/tmp/photos', 2, false, 'discarded', false, 0, NULL, 'Bench: 2 items', 'bench', NULL, true, true, 'sha256:9ac8db2b2f68ca23abcdb8f98feec9f629f7cb306367e371c7f77ab07250a62f', '{"workspace":"read-write"}', '\x2f746d702f70686f746f73', 1795369856175867604, NULL, NULL, 1, NULL, 'vm/520', '2026-11-22 17:50:56.437516+00', NULL, 'discard', 'not today', NULL, 'uid0@vm', '2026-11-22 17:50:56.465209+00', 2, 'sha256:c6d3cd0756f419491422aa90e67779ba29a6e6a6aee2445143109daa44ddc00d', NULL);
INSERT INTO airlock.actions (id, session, session_id, "position", open, state, interrupted, attempts, last_error, label, source_tool_name, details, has_reject, durable, plugin, grants, workspace, pushed_at, guest_state, owner, token, nonce, holder, leased_at, lease_until, decision, reason, extra, decided_by, resolved_at, resolved_order, result, error) VALUES ('01a20461-ee36-79f5-8e56-7b9653f4b5e3', '\x602ce87d9a14a067687ab2d0a73ead9f', 'workspace:/tmp/photos', 3, true, 'resolving', false, 1, NULL, 'Bench: 3 items', 'bench', NULL, true, true, 'sha256:9ac8db2b2f68ca23abcdb8f98feec9f629f7cb306367e371c7f77ab07250a62f', '{"workspace":"read-write"}', '\x2f746d702f70686f746f73', 1795369856566379128, '\x03000000', NULL, 1, '\x00', 'vm/1', '2026-11-22 17:50:56.826665+00', '2026-11-22 17:50:56.826665+00', 'apply', 'as previewed', NULL, 'uid0@vm', NULL, NULL, NULL, NULL);
INSERT INTO airlock.actions (id, session, session_id, "position", open, state, interrupted, attempts, last_error, label, source_tool_name, details, has_reject, durable, plugin, grants, workspace, pushed_at, guest_state, owner, token, nonce, holder, leased_at, lease_until, decision, reason, extra, decided_by, resolved_at, resolved_order, result, error) VALUES ('01a20461-ef5b-71d8-8743-430da6b031cd', '\x602ce87d9a14a067687ab2d0a73ead9f', 'workspace:/tmp/photos', 4, true, 'pending', false, 0, NULL, 'Bench: 4 items', 'bench', NULL, true, true, 'sha256:9ac8db2b2f68ca23abcdb8f98feec9f629f7cb306367e371c7f77ab07250a62f', '{"workspace":"read-write"}', '\x2f746d702f70686f746f73', 1795369856859944225, '\x04000000', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- Data for Name: hosts; Type: TABLE DATA; Schema: airlock; Owner: -

-- Data for Name: meta; Type: TABLE DATA; Schema: airlock; Owner: -

INSERT INTO airlock.meta (name, value) VALUES ('schema', '2');

-- Data for Name: plugins; Type: TABLE DATA; Schema: airlock; Owner: -

INSERT INTO airlock.plugins (digest, name, bytes, added_at) VALUES ('sha256:9ac8db2b2f68ca23abcdb8f98feec9f629f7cb306367e371c7f77ab07250a62f', 'bench', '\x@PLUGIN@', '2026-11-22 17:50:55.930944+00');

-- Data for Name: sessions; Type: TABLE DATA; Schema: airlock; Owner: -

INSERT INTO airlock.sessions (key, id, open, top) VALUES ('\x602ce87d9a14a067687ab2d0a73ead9f', 'workspace:/tmp/photos', 4, 4);

-- Name: resolved_order; Type: SEQUENCE SET; Schema: airlock; Owner: -

SELECT pg_catalog.setval('airlock.resolved_order', 2, true);

-- Name: actions actions_pkey; Type: CONSTRAINT; Schema: airlock; Owner: -

ALTER TABLE ONLY airlock.actions
    ADD CONSTRAINT actions_pkey PRIMARY KEY (id);

-- Name: hosts hosts_pkey; Type: CONSTRAINT; Schema: airlock; Owner: -

ALTER TABLE ONLY airlock.hosts
    ADD CONSTRAINT hosts_pkey PRIMARY KEY (id);

-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: airlock; Owner: -

ALTER TABLE ONLY airlock.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);

-- Name: plugins plugins_pkey; Type: CONSTRAINT; Schema: airlock; Owner: -

ALTER TABLE ONLY airlock.plugins
    ADD CONSTRAINT plugins_pkey PRIMARY KEY (digest);

-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: airlock; Owner: -

ALTER TABLE ONLY airlock.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (key);

-- Name: actions_resolved; Type: INDEX; Schema: airlock; Owner: -

CREATE INDEX actions_resolved ON airlock.actions USING btree (resolved_order) WHERE (NOT open);

-- Name: actions_resolved_of_session; Type: INDEX; Schema: airlock; Owner: -

CREATE INDEX actions_resolved_of_session ON airlock.actions USING btree (session, resolved_order) WHERE (NOT open);

-- Name: actions_stack; Type: INDEX; Schema: airlock; Owner: -

CREATE INDEX actions_stack ON airlock.actions USING btree (session, "position") WHERE open;

-- PostgreSQL database dump complete

