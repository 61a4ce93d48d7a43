-- Denials of actions. The column counts all denials of an action; the table has the last ones.
ALTER TABLE airlock.actions ADD COLUMN denials bigint NOT NULL DEFAULT 0;
CREATE TABLE airlock.denials (
    action text COLLATE "C" NOT NULL REFERENCES airlock.actions (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    denied_at timestamptz NOT NULL,
    -- Tells a statement that was sent again from another denial.
    nonce bytea NOT NULL,
    denial text NOT NULL,
    PRIMARY KEY (action, number)
);
CREATE INDEX denials_by_time ON airlock.denials (denied_at);
