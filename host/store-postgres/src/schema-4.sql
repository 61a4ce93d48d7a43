-- What was called, and what its caller got.
CREATE TABLE airlock.calls (
    id text PRIMARY KEY,
    tool text NOT NULL,
    -- Nanoseconds since 1970.
    called_at bigint NOT NULL,
    -- Params and content as JSON; null where they stand in pieces, compressed.
    body bytea
);
CREATE TABLE airlock.call_pieces (
    call text NOT NULL REFERENCES airlock.calls ON DELETE CASCADE,
    place bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (call, place)
);
-- They are compressed.
ALTER TABLE airlock.call_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE airlock.actions ADD COLUMN call text;
CREATE INDEX actions_of_calls ON airlock.actions (call) WHERE call IS NOT NULL;

-- Who decided, of which only a name was kept, and how that is known; both null in rows of an older version.
ALTER TABLE airlock.actions
    ADD COLUMN actor text,
    ADD COLUMN evidence text;
