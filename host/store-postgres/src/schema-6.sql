-- What the host saw an action do in its rehearsal: all but the changes, as JSON, and how many bytes that and they count for.
ALTER TABLE airlock.actions ADD COLUMN effects text, ADD COLUMN effects_bytes bigint NOT NULL DEFAULT 0;
-- Applies of earlier versions wrote to the workspace itself: nobody can find out what those did that were cut off.
UPDATE airlock.actions SET last_error = last_error || ' (by an earlier version)' WHERE interrupted AND open;
-- The changes, compressed.
CREATE TABLE airlock.effect_pieces (
    action text NOT NULL REFERENCES airlock.actions (id) ON DELETE CASCADE,
    place bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (action, place)
);
ALTER TABLE airlock.effect_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
