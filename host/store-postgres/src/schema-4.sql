-- Who decided, of which only a name was kept, and how that is known; both null in rows of an older version.
ALTER TABLE airlock.actions
    ADD COLUMN actor text,
    ADD COLUMN evidence text;
