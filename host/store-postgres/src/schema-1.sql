CREATE SCHEMA IF NOT EXISTS airlock;

-- Settings for all hosts.
CREATE TABLE airlock.meta (
    name text PRIMARY KEY,
    value text NOT NULL
);

-- Components that pushed actions.
CREATE TABLE airlock.plugins (
    digest text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    bytes bytea NOT NULL,
    added_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE airlock.plugins ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- A row for each session that has or had actions on its stack. Who pushes locks it, so that the capacity holds and positions
-- grow. The key is a digest of the id, which may be longer than an index takes.
CREATE TABLE airlock.sessions (
    key bytea PRIMARY KEY,
    id text NOT NULL,
    open bigint NOT NULL,
    top bigint NOT NULL
) WITH (fillfactor = 50);

-- Hosts that hold volatile actions in their memory, and are alive until then unless they say so again.
CREATE TABLE airlock.hosts (
    id bytea PRIMARY KEY,
    name text NOT NULL,
    alive_until timestamptz NOT NULL
);

CREATE SEQUENCE airlock.resolved_order;

CREATE TABLE airlock.actions (
    id text COLLATE "C" PRIMARY KEY,
    session bytea NOT NULL,
    session_id text NOT NULL,
    -- Its place on the session's stack: the topmost has the highest.
    position bigint NOT NULL,
    -- On a stack or claimed. Beside the state, so that a claim changes no index.
    open boolean NOT NULL DEFAULT true,
    state text COLLATE "C" NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'resolving', 'applied', 'discarded')),
    interrupted boolean NOT NULL DEFAULT false,
    attempts integer NOT NULL DEFAULT 0,
    last_error text,

    -- As pushed. Times of the host are in nanoseconds since 1970, details and grants JSON, the workspace a path in bytes.
    label text NOT NULL,
    source_tool_name text NOT NULL,
    details text,
    has_reject boolean NOT NULL,
    durable boolean NOT NULL,
    plugin text COLLATE "C" NOT NULL,
    grants text NOT NULL,
    workspace bytea,
    pushed_at bigint NOT NULL,
    guest_state bytea,
    -- The host that holds a volatile action.
    owner bytea,

    -- The claim. The token grows with each one; the nonce tells a claim that was repeated from another.
    token bigint NOT NULL DEFAULT 0,
    nonce bytea,
    holder text,
    leased_at timestamptz,
    lease_until timestamptz,
    decision text COLLATE "C" CHECK (decision IN ('apply', 'discard')),
    reason text,
    extra text,
    decided_by text,

    -- The end.
    resolved_at timestamptz,
    resolved_order bigint,
    result text,
    error text,
    CHECK (open = (state IN ('pending', 'resolving'))),
    CHECK (open = (resolved_order IS NULL))
) WITH (fillfactor = 70);

CREATE INDEX actions_stack ON airlock.actions (session, position) WHERE open;
CREATE INDEX actions_resolved ON airlock.actions (resolved_order) INCLUDE (state) WHERE NOT open;
CREATE INDEX actions_resolved_of_session ON airlock.actions (session, resolved_order) WHERE NOT open;
