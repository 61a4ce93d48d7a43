-- Where it is known how an apply ended, of which no end is recorded: 0 it is recorded, 1 in its workspace, 2 nowhere. Before, the
-- error's text told one from the other.
ALTER TABLE airlock.actions ALTER COLUMN interrupted DROP DEFAULT;
ALTER TABLE airlock.actions ALTER COLUMN interrupted TYPE smallint USING CASE
    WHEN NOT interrupted THEN 0
    WHEN last_error = 'an apply was begun, and its host stopped before the end was recorded: it may have taken effect, wholly or in part' THEN 1
    ELSE 2 END;
ALTER TABLE airlock.actions ALTER COLUMN interrupted SET DEFAULT 0;
ALTER TABLE airlock.actions ADD CONSTRAINT known_interruptions CHECK (interrupted IN (0, 1, 2));
