-- The part of an action's changes that was applied, as JSON; null for all of them.
ALTER TABLE airlock.actions ADD COLUMN part text;
